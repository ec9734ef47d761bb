#pragma once

#include <string>
#include <vector>

#include "fast/train/models.h"

namespace fast {

/// The completions of a command line of `fast`, for a shell: commands, flags, and the beginnings of
/// option values where they are listed. The last of `words`, which may be empty, is the one to
/// complete. `words` does not include the program's name.
[[nodiscard]] std::vector<std::string> complete(const std::vector<std::string>& words,
                                                const Models& models);

/// fast completion: prints a line for ~/.bashrc that makes bash call `fast complete`.
int completion_command(const std::vector<std::string>& args, const Models& models);
/// fast complete: answers bash's question, which is in the environment and `args` (see `complete
/// -C` in bash's manual); prints one answer a line.
int complete_command(const std::vector<std::string>& args, const Models& models);

}  // namespace fast
