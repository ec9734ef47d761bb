#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace fast::testing {

/// A control group whose processes may take so much memory together, and no more: of cgroup v2
/// where its memory controller can be had, otherwise of v1's. The group is removed with this, once
/// its processes have ended.
class MemoryGroup {
 public:
  /// Null where this process may make none; then `why` says what was tried.
  static std::unique_ptr<MemoryGroup> make(const std::string& name, std::string& why);
  ~MemoryGroup();
  MemoryGroup(const MemoryGroup&) = delete;
  MemoryGroup& operator=(const MemoryGroup&) = delete;

  /// Bytes. False where it cannot be set.
  [[nodiscard]] bool limit(std::size_t bytes) const;
  /// The calling process becomes one of the group's.
  [[nodiscard]] bool enter() const;
  /// The most that the group has taken at a time; 0 where the system does not tell.
  [[nodiscard]] std::size_t peak() const;
  /// Processes of the group that were killed for want of memory.
  [[nodiscard]] std::uint64_t killed() const;

 private:
  MemoryGroup(std::string folder, bool second) : folder_(std::move(folder)), second_(second) {}
  std::string folder_;
  bool second_;  ///< of cgroup v2
};

}  // namespace fast::testing
