#include "adapters/programs/built_models.h"
#include "fast/programs/worker_main.h"

int main(int argc, char** argv) {
  return fast::worker_main(argc, argv, fast::built_models());
}
