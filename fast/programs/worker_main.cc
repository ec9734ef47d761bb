#include "fast/programs/worker_main.h"

#include "fast/programs/command.h"
#include "fast/programs/worker_command.h"

namespace fast {

int worker_main(int argc, char** argv, const Models& models) {
  return run_guarded("fast-worker", [&] { return worker_command(arguments(argc, argv), models); });
}

}  // namespace fast
