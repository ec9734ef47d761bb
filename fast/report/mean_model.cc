#include "fast/report/mean_model.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "fast/errors.h"
#include "fast/report/float_types.h"
#include "fast/run/islands.h"
#include "fast/run/run_folder.h"

namespace fast {
namespace {

constexpr char kRemedy[] = "is it a worker's model?";

struct Opened {
  int rank;
  SafetensorsFile file;
  std::set<std::string> exchanged, carried;  ///< names of tensors
};

/// The names of tensors that the metadata list under `key`; nullopt where they have no such key.
std::optional<std::set<std::string>> listed_names(const SafetensorsFile& file, const char* key) {
  std::set<std::string> names;
  const auto it = file.metadata().find(key);
  if (it == file.metadata().end()) return std::nullopt;
  const auto list = nlohmann::json::parse(it->second, nullptr, false);
  const auto fail = [&](const std::string& what) {
    throw FileError(file.name() + ": its metadata \"" + key + "\" " + what, kRemedy);
  };
  if (!list.is_array()) fail("is no JSON array");
  for (const auto& name : list) {
    if (!name.is_string()) fail("holds something that is no name");
    if (file.find(name.get<std::string>()) == nullptr) {
      fail("names \"" + name.get<std::string>() + "\", which the file lacks");
    }
    names.insert(name.get<std::string>());
  }
  return names;
}

/// Of a file that does not say which are exchanged, all of float32.
std::set<std::string> exchanged_names(const SafetensorsFile& file) {
  if (auto names = listed_names(file, kExchangedKey)) return *std::move(names);
  std::set<std::string> names;
  for (const TensorView& tensor : file.tensors()) {
    if (tensor.dtype == "F32") names.insert(tensor.name);
  }
  return names;
}

bool is_finite(const SafetensorsFile& file, const std::set<std::string>& exchanged) {
  for (const TensorView& tensor : file.tensors()) {
    if (!is_float(tensor.dtype) || !exchanged.contains(tensor.name)) continue;
    const bool finite = with_type(tensor.dtype, [&](auto type) {
      using T = decltype(type);
      for (std::size_t i = 0; i < elements<T>(tensor.bytes); ++i) {
        if (!std::isfinite(element<T>(tensor.bytes, i))) return false;
      }
      return true;
    });
    if (!finite) return false;
  }
  return true;
}

/// Two models with equal Shapes can be averaged.
using Shapes = std::map<std::string, std::pair<std::string, std::vector<std::int64_t>>>;

Shapes shapes_of(const SafetensorsFile& file) {
  Shapes shapes;
  for (const TensorView& tensor : file.tensors()) {
    shapes[tensor.name] = {tensor.dtype, tensor.shape};
  }
  return shapes;
}

/// Throws FileError for a file that is not the model that this worker of this run has saved.
void check_origin(const SafetensorsFile& file, int rank, const std::string& run_id) {
  const auto check = [&file](const char* key, const std::string& here, const std::string& whose) {
    const auto it = file.metadata().find(key);
    if (it == file.metadata().end() || it->second == here) return;
    throw FileError(file.name() + " is of another " + whose + ": " + it->second + ", not " + here,
                    "put the worker's own file there");
  };
  check(kRunIdKey, run_id, "run");
  check(kRankKey, std::to_string(rank), "rank");
  if (intact(file.content())) return;
  throw FileError(file.name() + " is damaged: its checksum is wrong",
                  "copy it again from where the worker ran");
}

/// Opens the models that can be read and averaged; the others are left out. `path_of`: a worker's.
template <typename PathOf>
std::vector<Opened> open_models(const RunRecords& records, std::vector<LeftOut>& left_out,
                                PathOf path_of) {
  std::vector<Opened> files;
  for (const WorkerRecords& worker : records.workers) {
    const std::optional<std::filesystem::path> path = path_of(worker);
    if (!path) {
      left_out.push_back({worker.rank, "it has saved no model"});
      continue;
    }
    try {
      SafetensorsFile file = SafetensorsFile::open(*path);
      check_origin(file, worker.rank, records.start().run_id);
      std::set<std::string> names = exchanged_names(file);
      if (is_finite(file, names)) {
        auto carried = listed_names(file, kCarriedKey).value_or(std::set<std::string>());
        files.push_back({worker.rank, std::move(file), std::move(names), std::move(carried)});
      } else {
        left_out.push_back({worker.rank, "its model is not finite"});
      }
    } catch (const FileError& error) {
      left_out.push_back({worker.rank, error.what()});
    }
  }
  return files;
}

/// Keeps the models for which `fits` holds; the others are left out for `why`.
template <typename Fits>
void keep(std::vector<Opened>& files, std::vector<LeftOut>& left_out, const std::string& why,
          Fits fits) {
  std::erase_if(files, [&](const Opened& opened) {
    if (fits(opened)) return false;
    left_out.push_back({opened.rank, why});
    return true;
  });
}

/// In a tie, keeps the shapes of the lowest rank.
void keep_most_common_shapes(std::vector<Opened>& files, std::vector<LeftOut>& left_out) {
  std::map<Shapes, int> counts;
  for (const Opened& opened : files) ++counts[shapes_of(opened.file)];
  if (counts.size() < 2) return;
  Shapes common;
  for (const Opened& opened : files) {
    Shapes shapes = shapes_of(opened.file);
    if (common.empty() || counts[shapes] > counts[common]) common = std::move(shapes);
  }
  keep(files, left_out, "its model is another one: other tensors than most workers'",
       [&](const Opened& opened) { return shapes_of(opened.file) == common; });
}

/// Keeps the models of the evaluation that most name; in a tie, of that of the lowest rank.
void keep_most_common_evaluation(std::vector<Opened>& files) {
  const auto evaluation = [](const Opened& opened) {
    const auto it = opened.file.metadata().find(kEvaluationKey);
    return it == opened.file.metadata().end() ? std::string() : it->second;
  };
  std::map<std::string, int> counts;
  for (const Opened& opened : files) ++counts[evaluation(opened)];
  std::string common;
  for (const Opened& opened : files) {
    if (common.empty() || counts[evaluation(opened)] > counts[common]) common = evaluation(opened);
  }
  std::erase_if(files, [&](const Opened& opened) { return evaluation(opened) != common; });
}

/// A model without this key was written before the key existed.
std::string ended(const Opened& opened) {
  const auto it = opened.file.metadata().find(kEndedKey);
  return it == opened.file.metadata().end() ? "agreed" : it->second;
}

/// One that agrees with itself alone, when all others have given up waiting for it, is not the
/// result: those who ended at their deadline are left out only where most agreed.
void keep_those_who_agreed(std::vector<Opened>& files, std::vector<LeftOut>& left_out) {
  const auto agreed =
      std::ranges::count_if(files, [](const Opened& o) { return ended(o) == "agreed"; });
  if (agreed == 0) return;
  keep(files, left_out, "it ended early, while others ended in agreement",
       [](const Opened& opened) { return ended(opened) != kEndedEarly; });
  if (2 * agreed <= std::ssize(files)) return;
  keep(files, left_out, "it did not agree with its neighbours before its deadline, others did",
       [](const Opened& opened) { return ended(opened) != "deadline"; });
}

/// Averages one tensor and adds up each worker's squared distance from the mean.
template <typename T>
void average(const std::vector<const TensorView*>& all, OwnedTensor& mean, bool counts,
             std::vector<double>& distances, double& norm) {
  const std::size_t size = elements<T>(mean.bytes);
  std::vector<double> sums(size, 0.0);
  for (const TensorView* tensor : all) {
    for (std::size_t i = 0; i < size; ++i) sums[i] += element<T>(tensor->bytes, i);
  }
  const double share = 1.0 / static_cast<double>(all.size());
  for (std::size_t i = 0; i < size; ++i) {
    sums[i] *= share;
    set_element<T>(mean.bytes, i, sums[i]);
    if (counts) norm += sums[i] * sums[i];
  }
  if (!counts) return;
  for (std::size_t worker = 0; worker < all.size(); ++worker) {
    for (std::size_t i = 0; i < size; ++i) {
      const double difference = element<T>(all[worker]->bytes, i) - sums[i];
      distances[worker] += difference * difference;
    }
  }
}

double rms_ratio(const std::vector<double>& squares, double norm) {
  double sum = 0;
  for (const double square : squares) sum += square;
  if (sum == 0) return 0;
  return std::sqrt(sum / static_cast<double>(squares.size()) / norm);
}

MeanModel averaged(const std::vector<const Opened*>& files) {
  MeanModel mean;
  const Opened& first = *files.front();
  mean.metadata = first.file.metadata();
  mean.metadata.erase(kRankKey);
  for (const Opened* const opened : files) mean.ranks.push_back(opened->rank);
  std::vector<double> distances(files.size(), 0.0);
  double norm = 0;
  for (const TensorView& tensor : first.file.tensors()) {
    OwnedTensor& out = mean.tensors.emplace_back(
        OwnedTensor{tensor.name, tensor.dtype, tensor.shape,
                    std::vector<std::byte>(tensor.bytes.begin(), tensor.bytes.end())});
    if (!is_float(tensor.dtype) || first.carried.contains(tensor.name)) continue;
    std::vector<const TensorView*> all;
    for (const Opened* const opened : files) all.push_back(opened->file.find(tensor.name));
    with_type(tensor.dtype, [&](auto type) {
      average<decltype(type)>(all, out, first.exchanged.contains(tensor.name), distances, norm);
    });
  }
  mean.consensus_distance = rms_ratio(distances, norm);
  return mean;
}

}  // namespace

std::vector<NamedTensor> MeanModel::views() {
  std::vector<NamedTensor> views;
  for (OwnedTensor& tensor : tensors) {
    views.push_back({tensor.name, tensor.dtype, tensor.shape, tensor.bytes});
  }
  return views;
}

MeanModels mean_models(const RunRecords& records) {
  MeanModels out{.parts = {}, .left_out = records.missing};
  std::vector<Opened> files =
      open_models(records, out.left_out, std::mem_fn(&WorkerRecords::model));
  keep_most_common_shapes(files, out.left_out);
  keep_those_who_agreed(files, out.left_out);
  std::ranges::sort(out.left_out, {}, &LeftOut::rank);
  std::map<int, const Opened*> by_rank;
  std::vector<int> ranks;
  for (const Opened& opened : files) {
    by_rank[opened.rank] = &opened;
    ranks.push_back(opened.rank);
  }
  for (const std::vector<int>& part : islands(records, ranks)) {
    std::vector<const Opened*> members;
    for (const int rank : part) members.push_back(by_rank.at(rank));
    out.parts.push_back(averaged(members));
  }
  return out;
}

std::optional<MeanModel> best_model(const RunRecords& records, const std::vector<int>& ranks) {
  std::vector<LeftOut> left_out;
  std::vector<Opened> files = open_models(
      records, left_out, [](const WorkerRecords& worker) -> std::optional<std::filesystem::path> {
        const std::filesystem::path file = worker.folder / kBestFile;
        std::error_code ignored;
        if (!std::filesystem::exists(file, ignored)) return std::nullopt;
        return file;
      });
  std::erase_if(files, [&](const Opened& opened) {
    return std::ranges::find(ranks, opened.rank) == ranks.end();
  });
  keep_most_common_shapes(files, left_out);
  keep_most_common_evaluation(files);
  if (files.empty()) return std::nullopt;
  std::vector<const Opened*> members;
  for (const Opened& opened : files) members.push_back(&opened);
  return averaged(members);
}

}  // namespace fast
