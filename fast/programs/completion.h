#pragma once

#include <string>
#include <vector>

#include "fast/train/models.h"

namespace fast {

/// What may follow on a command line of `fast`, for a shell: commands, flags, and how values of the
/// options that have a list begin. The last of `words`, which may be empty, is the one to complete;
/// the program's name is not among them.
[[nodiscard]] std::vector<std::string> complete(const std::vector<std::string>& words,
                                                const Models& models);

/// fast completion: a line for ~/.bashrc that makes bash ask `fast complete`.
int completion_command(const std::vector<std::string>& args, const Models& models);
/// fast complete: bash's question, as the environment and `args` have it (see `complete -C` in
/// bash's manual); prints an answer a line.
int complete_command(const std::vector<std::string>& args, const Models& models);

}  // namespace fast
