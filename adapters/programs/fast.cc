#include "adapters/programs/built_models.h"
#include "adapters/programs/hangup.h"
#include "fast/programs/fast_main.h"

int main(int argc, char** argv) {
  fast::keep_ignored_hangup();
  return fast::fast_main(argc, argv, fast::built_models());
}
