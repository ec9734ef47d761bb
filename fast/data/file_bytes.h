#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace fast {

/// No file of a data set here comes near it; what claims more is no such file.
inline constexpr std::size_t kMaxDataFile = std::size_t{1} << 30;

/// The size of a regular file. Throws DataError, with `remedy`, if there is none, if it is larger
/// than kMaxDataFile or cannot be read.
[[nodiscard]] std::size_t data_file_size(const std::filesystem::path& file,
                                         const std::string& remedy);

/// Replaces `out` by the whole file, reusing its memory. Throws like data_file_size.
void read_data_file(const std::filesystem::path& file, const std::string& remedy,
                    std::vector<std::uint8_t>& out);

[[nodiscard]] bool is_gzip(std::span<const std::uint8_t> bytes);

/// What to do when more than `limit` bytes come out.
enum class AtLimit { kFail, kStop };

/// Inflates one gzip stream, which must fill `bytes`. The memory it takes grows with what comes
/// out, at most `limit` bytes. Throws DataError naming `file` and the offset for damaged, truncated
/// or too large streams. With kStop the first `limit` bytes are enough, and what follows is not
/// read.
[[nodiscard]] std::vector<std::uint8_t> inflate_gzip(std::span<const std::uint8_t> bytes,
                                                     const std::string& file, std::size_t limit,
                                                     AtLimit at_limit = AtLimit::kFail);

}  // namespace fast
