#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace fast {

/// Creates a folder (and its parents) and proves that files can be written there. Throws FileError.
void make_writable_folder(const std::filesystem::path& folder);

/// A file that appears, whole, at commit() and not before: written beside its place and renamed.
/// Without commit() nothing is left behind. Throws FileError.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path file);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* bytes, std::size_t size);
  void commit();

 private:
  std::filesystem::path file_, temporary_;
  std::ofstream out_;
};

/// Readers see the old file or the whole new one, never a part. Throws FileError.
void write_atomically(const std::filesystem::path& file, std::string_view content);

}  // namespace fast
