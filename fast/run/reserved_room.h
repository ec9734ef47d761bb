#pragma once

#include <cstddef>
#include <filesystem>
#include <utility>

namespace fast {

/// Room on a disk that nobody else can take, for a file that must not be lost: another file of that
/// size, which makes way for it.
class ReservedRoom {
 public:
  /// `file` holds the room; it is hidden and goes with this object. Nothing is reserved yet.
  explicit ReservedRoom(std::filesystem::path file) : file_(std::move(file)) {}
  ~ReservedRoom() { release(); }
  ReservedRoom(const ReservedRoom&) = delete;
  ReservedRoom& operator=(const ReservedRoom&) = delete;

  /// Throws FileError, naming folder and size, where there is no room for `bytes`, or less than
  /// `beside` is left.
  void reserve(std::size_t bytes, std::size_t beside = 0);
  /// The room is free for what it was kept for, and for anybody.
  void release();

 private:
  std::filesystem::path file_;
};

}  // namespace fast
