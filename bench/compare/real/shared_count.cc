#include "bench/compare/real/shared_count.h"

#include <atomic>
#include <boost/interprocess/file_mapping.hpp>
#include <fstream>

namespace fast::compare {
namespace {

namespace ipc = boost::interprocess;

ipc::mapped_region map(const std::filesystem::path& file) {
  std::ofstream(file, std::ios::app);  // creates the file if needed
  std::filesystem::resize_file(file, sizeof(std::uint64_t));
  return {ipc::file_mapping(file.c_str(), ipc::read_write), ipc::read_write};
}

}  // namespace

SharedCount::SharedCount(const std::filesystem::path& file) : region_(map(file)) {}

void SharedCount::add(std::uint64_t more) {
  std::atomic_ref(counted()).fetch_add(more);
}

std::uint64_t SharedCount::value() const {
  return std::atomic_ref(counted()).load();
}

std::uint64_t& SharedCount::counted() const {
  return *static_cast<std::uint64_t*>(region_.get_address());
}

}  // namespace fast::compare
