#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace fast {

/// A lock that one process holds at a time. It ends with the process, however that ends. The file
/// stays and names its last holder. Movable resource.
class LockFile {
 public:
  /// Returns nothing where another process holds the lock; see holder_of(). Throws FileError where
  /// the file can be neither created nor opened.
  [[nodiscard]] static std::optional<LockFile> take(const std::filesystem::path& file);
  /// "process 1234 on node7"; "another process" where that cannot be read.
  [[nodiscard]] static std::string holder_of(const std::filesystem::path& file);

  ~LockFile();
  LockFile(LockFile&& other) noexcept;
  LockFile& operator=(LockFile&& other) noexcept;

  /// False on a file system without locks, where no other process is kept out.
  [[nodiscard]] bool locked() const { return locked_; }

 private:
  LockFile(int descriptor, bool locked) : descriptor_(descriptor), locked_(locked) {}
  int descriptor_ = -1;
  bool locked_ = false;
};

}  // namespace fast
