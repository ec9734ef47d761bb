#pragma once

#include <boost/interprocess/mapped_region.hpp>
#include <cstdint>
#include <filesystem>

namespace fast::compare {

/// A number that all processes of a run add to: how many samples they have made together. It lies
/// in a file, so what a killed process has added stays. Any thread of any of them.
class SharedCount {
 public:
  /// Zero where the file is new. Throws boost::interprocess::interprocess_exception or
  /// std::filesystem::filesystem_error where it cannot be written.
  explicit SharedCount(const std::filesystem::path& file);

  void add(std::uint64_t more);
  [[nodiscard]] std::uint64_t value() const;

 private:
  [[nodiscard]] std::uint64_t& counted() const;

  boost::interprocess::mapped_region region_;
};

}  // namespace fast::compare
