#include "fast/run/run_folder.h"

#include <charconv>
#include <string_view>
#include <system_error>

namespace fast {
namespace {

constexpr std::string_view kWorker = "worker-";
constexpr std::string_view kMeanOf = "mean-of-";

}  // namespace

std::optional<int> worker_rank(const std::filesystem::path& folder) {
  const std::string name = folder.filename().string();
  if (!name.starts_with(kWorker)) return std::nullopt;
  int rank = -1;
  const char* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + kWorker.size(), end, rank);
  if (error != std::errc() || stop != end || rank < 0) return std::nullopt;
  return rank;
}

std::vector<std::filesystem::path> RunFolder::means() const {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(root_, error)) {
    const std::filesystem::path& file = entry.path();
    const bool part =
        file.filename().string().starts_with(kMeanOf) && file.extension() == ".safetensors";
    if (part || file == mean()) found.push_back(file);
  }
  return found;
}

}  // namespace fast
