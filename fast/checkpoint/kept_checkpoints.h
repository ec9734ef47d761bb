#pragma once

#include <cstdint>
#include <filesystem>

namespace fast {

/// The path of the checkpoint `file` as it was after so many steps: "checkpoint.1200.safetensors".
[[nodiscard]] std::filesystem::path kept_checkpoint(const std::filesystem::path& file,
                                                    std::uint64_t steps);

/// Keeps the checkpoint in `file`, which was made after `steps`, under its own name, too, and
/// removes all that are so kept but the last `most`. It takes no room of its own until `file` is
/// replaced. Those of more than `steps`, which are of a life that was given up, are left alone.
/// Throws FileError where the file system cannot give a file two names.
void keep_checkpoint(const std::filesystem::path& file, std::uint64_t steps, int most);

}  // namespace fast
