#pragma once

#include "fast/train/models.h"

namespace fast {

/// The program `fast`, whose workers train these models. Returns its exit code; throws nothing.
int fast_main(int argc, char** argv, const Models& models);

}  // namespace fast
