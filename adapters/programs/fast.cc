#include "adapters/programs/built_models.h"
#include "fast/programs/fast_main.h"

int main(int argc, char** argv) {
  return fast::fast_main(argc, argv, fast::built_models());
}
