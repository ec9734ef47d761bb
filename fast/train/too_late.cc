#include "fast/train/too_late.h"

#include <fmt/format.h>

#include <string_view>
#include <system_error>
#include <vector>

#include "fast/errors.h"
#include "fast/run/safetensors.h"
#include "fast/session/exchange.h"

namespace fast {
namespace {

namespace fs = std::filesystem;

bool agreed(const fs::path& file, const std::string& run_id) {
  std::error_code error;
  if (!fs::exists(file, error)) return false;
  try {
    const SafetensorsFile model = SafetensorsFile::open(file);
    const auto says = [&model](const char* key, std::string_view value) {
      const auto it = model.metadata().find(key);
      return it != model.metadata().end() && it->second == value;
    };
    return says(kRunIdKey, run_id) && says(kEndedKey, name(Agreement::kAgreed));
  } catch (const FileError&) {
    return false;  // half of one, or another program's: it tells nothing
  }
}

}  // namespace

std::vector<int> ended_in_agreement(const RunFolder& folder, int workers, int self,
                                    const std::string& run_id) {
  std::vector<int> others;
  for (int rank = 0; rank < workers; ++rank) {
    if (rank != self && agreed(folder.worker_model(rank), run_id)) others.push_back(rank);
  }
  return others;
}

std::string too_late(const RunFolder& folder, const std::vector<int>& before) {
  if (before.empty()) return "";
  return fmt::format(
      "came too late: worker{} {} of this run had ended in agreement before; what this worker has "
      "learnt since is its own alone. Their model is the run's result: {}",
      before.size() == 1 ? "" : "s", fmt::join(before, ", "),
      folder.worker_model(before.front()).string());
}

}  // namespace fast
