#include "adapters/programs/built_models.h"
#include "adapters/programs/hangup.h"
#include "fast/programs/worker_main.h"

int main(int argc, char** argv) {
  fast::keep_ignored_hangup();
  return fast::worker_main(argc, argv, fast::built_models());
}
