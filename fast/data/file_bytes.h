#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace fast {

/// A limit far above the files of these data sets; a larger file is refused.
inline constexpr std::size_t kMaxDataFile = std::size_t{1} << 30;

/// The size of a regular file. Throws DataError, with `remedy`, if there is none, if it is larger
/// than kMaxDataFile or cannot be read.
[[nodiscard]] std::size_t data_file_size(const std::filesystem::path& file,
                                         const std::string& remedy);

/// Replaces `out` by the content of the file and reuses its memory. A gzip file (one member or
/// several; padding after them is skipped) is inflated. With `most`, reads only the first bytes.
/// Memory grows with the bytes read. Throws DataError as data_file_size() does, and for a file that
/// is damaged, truncated, or inflates to more than kMaxDataFile.
void read_data_file(const std::filesystem::path& file, const std::string& remedy,
                    std::vector<std::uint8_t>& out, std::size_t most = kMaxDataFile + 1);

/// A plain file of which pieces are read. One thread.
class DataFile {
 public:
  /// Throws DataError with this remedy where it cannot be opened.
  DataFile(const std::filesystem::path& file, std::string remedy);
  ~DataFile();
  DataFile(const DataFile&) = delete;
  DataFile& operator=(const DataFile&) = delete;

  /// Throws DataError where it is no regular file.
  [[nodiscard]] std::size_t size() const;
  /// Fills `out` with the bytes from `offset` on. Throws DataError, also where the file has become
  /// too short.
  void read(std::size_t offset, std::span<std::uint8_t> out) const;

 private:
  std::filesystem::path file_;
  std::string remedy_;
  int descriptor_ = -1;
};

}  // namespace fast
