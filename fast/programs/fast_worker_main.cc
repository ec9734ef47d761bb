#include "fast/programs/command.h"
#include "fast/programs/worker_command.h"

int main(int argc, char** argv) {
  return fast::run_guarded("fast-worker",
                           [&] { return fast::worker_command(fast::arguments(argc, argv)); });
}
