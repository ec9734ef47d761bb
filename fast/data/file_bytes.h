#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace fast {

/// No file of a data set here comes near it; what claims more is no such file.
inline constexpr std::size_t kMaxDataFile = std::size_t{1} << 30;

/// The size of a regular file. Throws DataError, with `remedy`, if there is none, if it is larger
/// than kMaxDataFile or cannot be read.
[[nodiscard]] std::size_t data_file_size(const std::filesystem::path& file,
                                         const std::string& remedy);

/// Replaces `out` by what the file holds, inflated where it is gzip (one member or several, padding
/// after them passed over), and reuses its memory. With `most`, only the first bytes are read.
/// Memory grows with what is read. Throws DataError like data_file_size(), and for what is damaged,
/// cut off, or inflates to more than kMaxDataFile.
void read_data_file(const std::filesystem::path& file, const std::string& remedy,
                    std::vector<std::uint8_t>& out, std::size_t most = kMaxDataFile + 1);

}  // namespace fast
