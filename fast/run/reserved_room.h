#pragma once

#include <cstddef>
#include <filesystem>
#include <utility>

namespace fast {

/// Room on a disk reserved for a file that must not be lost: a file of that size, into whose place
/// an AtomicFile writes it. To free the room first would give it to whoever writes next.
class ReservedRoom {
 public:
  /// `file` reserves the room; it is hidden and removed with this object. Nothing is reserved yet.
  explicit ReservedRoom(std::filesystem::path file) : file_(std::move(file)) {}
  ~ReservedRoom() { release(); }
  ReservedRoom(const ReservedRoom&) = delete;
  ReservedRoom& operator=(const ReservedRoom&) = delete;

  /// Throws FileError, naming folder and size, where there is no room for `bytes`, or less than
  /// `beside` is left.
  void reserve(std::size_t bytes, std::size_t beside = 0);
  /// What reserves the room; it may not exist.
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  /// Frees the room, for any use.
  void release();

 private:
  std::filesystem::path file_;
};

}  // namespace fast
