#pragma once

#include "fast/train/models.h"

namespace fast {

/// The program `fast-worker` for these models. A custom worker program is a main() that calls this.
/// Returns its exit code; throws nothing.
int worker_main(int argc, char** argv, const Models& models);

}  // namespace fast
