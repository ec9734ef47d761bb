#pragma once

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <string_view>

namespace fast {

/// Creates a folder (and its parents) and checks that files can be written there. Throws FileError.
void make_writable_folder(const std::filesystem::path& folder);

/// A file that appears, complete, at commit(): it is written under another name and then renamed.
/// After commit() it survives a power cut, since file and folder have been synchronised with the
/// disk. Without commit() nothing is left behind. Throws FileError.
class AtomicFile {
 public:
  /// `room`: a file in the same folder (ReservedRoom::file()) whose place on the disk is used, so
  /// that what fits into it can be written to a full disk. It goes with this object. Where it does
  /// not exist, room is looked for as usual.
  explicit AtomicFile(std::filesystem::path file, const std::filesystem::path& room = {});
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* bytes, std::size_t size);
  /// Optional, before commit(), for callers that need to act between the two. All data is then on
  /// the disk, but not in place. Nothing may be written afterwards.
  void finish();
  void commit();

 private:
  std::filesystem::path file_, temporary_;
  std::FILE* out_ = nullptr;
  int error_ = 0;  ///< errno of the first write that failed
};

/// Makes renames in this folder survive a power cut. Ignores file systems that cannot synchronise a
/// folder.
void sync_folder(const std::filesystem::path& folder);

/// Writes a file so that readers see the old one or the complete new one. Throws FileError.
void write_atomically(const std::filesystem::path& file, std::string_view content);

}  // namespace fast
