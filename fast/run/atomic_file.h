#pragma once

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <string_view>

namespace fast {

/// Creates a folder (and its parents) and proves that files can be written there. Throws FileError.
void make_writable_folder(const std::filesystem::path& folder);

/// A file that appears, whole, at commit() and not before: written beside its place and renamed.
/// After commit() it outlasts a power cut: file and folder have been synchronised with the disk.
/// Without commit() nothing is left behind. Throws FileError.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path file);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* bytes, std::size_t size);
  /// Optional before commit(), for whoever has something to do between the two: all is on the
  /// disk, but not in place. Nothing may be written afterwards.
  void finish();
  void commit();

 private:
  std::filesystem::path file_, temporary_;
  std::FILE* out_ = nullptr;
  int error_ = 0;  ///< errno of the first write that failed
};

/// Renames in this folder outlast a power cut. File systems that cannot tell are taken at their
/// word.
void sync_folder(const std::filesystem::path& folder);

/// Readers see the old file or the whole new one, never a part. Throws FileError.
void write_atomically(const std::filesystem::path& file, std::string_view content);

}  // namespace fast
