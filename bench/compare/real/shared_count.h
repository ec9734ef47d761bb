#pragma once

#include <boost/interprocess/mapped_region.hpp>
#include <cstdint>
#include <filesystem>

namespace fast::compare {

/// The number of samples that all processes of a run have trained together. It is stored in a file,
/// so the count of a killed process is kept. Any thread of any process.
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
