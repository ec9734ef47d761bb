#include "fast/report/mean_model.h"

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "fast/errors.h"

namespace fast {
namespace {

constexpr char kStrangers[] = "the folders are of different runs or a model is damaged";

struct Opened {
  int rank;
  SafetensorsFile file;
};

bool is_float(const std::string& dtype) {
  return dtype == "F32" || dtype == "F64";
}

/// Element `i` of a float tensor, wherever it lies.
template <typename T>
double element(std::span<const std::byte> bytes, std::size_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
  return static_cast<double>(value);
}

/// Calls visit(T{}) with the tensor's element type, F32 or F64.
template <typename Visit>
auto with_type(const std::string& dtype, Visit visit) {
  return dtype == "F64" ? visit(double{}) : visit(float{});
}

/// Names of the tensors that are exchanged.
std::set<std::string> exchanged_names(const SafetensorsFile& file) {
  std::set<std::string> names;
  const auto it = file.metadata().find(kExchangedKey);
  if (it == file.metadata().end()) {
    for (const TensorView& tensor : file.tensors()) {
      if (tensor.dtype == "F32") names.insert(tensor.name);
    }
    return names;
  }
  const auto list = nlohmann::json::parse(it->second, nullptr, false);
  const auto fail = [&](const std::string& what) {
    throw FileError(file.name() + ": its metadata \"" + kExchangedKey + "\" " + what, kStrangers);
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

bool is_finite(const SafetensorsFile& file, const std::set<std::string>& exchanged) {
  for (const TensorView& tensor : file.tensors()) {
    if (!is_float(tensor.dtype) || !exchanged.contains(tensor.name)) continue;
    const bool finite = with_type(tensor.dtype, [&](auto type) {
      using T = decltype(type);
      for (std::size_t i = 0; i < tensor.bytes.size() / sizeof(T); ++i) {
        if (!std::isfinite(element<T>(tensor.bytes, i))) return false;
      }
      return true;
    });
    if (!finite) return false;
  }
  return true;
}

/// The tensor of this name in each file, all of one shape and type.
std::vector<const TensorView*> same_tensor(const std::vector<Opened>& files,
                                           const TensorView& first) {
  std::vector<const TensorView*> all;
  for (const Opened& opened : files) {
    const TensorView* tensor = opened.file.find(first.name);
    if (tensor == nullptr) {
      throw FileError(opened.file.name() + " lacks the tensor \"" + first.name + "\" that " +
                          files.front().file.name() + " has",
                      kStrangers);
    }
    if (tensor->dtype != first.dtype || tensor->shape != first.shape) {
      throw FileError("tensor \"" + first.name + "\" is of another shape or type in " +
                          opened.file.name() + " than in " + files.front().file.name(),
                      kStrangers);
    }
    all.push_back(tensor);
  }
  return all;
}

/// Means one tensor and adds up how far each worker is from it.
template <typename T>
void average(const std::vector<const TensorView*>& all, OwnedTensor& mean, bool counts,
             std::vector<double>& distances, double& norm) {
  const std::size_t size = mean.bytes.size() / sizeof(T);
  std::vector<double> sums(size, 0.0);
  for (const TensorView* tensor : all) {
    for (std::size_t i = 0; i < size; ++i) sums[i] += element<T>(tensor->bytes, i);
  }
  const double share = 1.0 / static_cast<double>(all.size());
  for (std::size_t i = 0; i < size; ++i) {
    sums[i] *= share;
    const T rounded = static_cast<T>(sums[i]);
    std::memcpy(mean.bytes.data() + i * sizeof(T), &rounded, sizeof(T));
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

}  // namespace

std::vector<NamedTensor> MeanModel::views() {
  std::vector<NamedTensor> views;
  for (OwnedTensor& tensor : tensors) {
    views.push_back({tensor.name, tensor.dtype, tensor.shape, tensor.bytes});
  }
  return views;
}

std::optional<MeanModel> mean_model(const RunRecords& records) {
  MeanModel mean;
  std::vector<Opened> files;
  std::set<std::string> exchanged;
  for (const WorkerRecords& worker : records.workers) {
    if (!worker.model) continue;
    SafetensorsFile file = SafetensorsFile::open(*worker.model);
    std::set<std::string> names = exchanged_names(file);
    if (!is_finite(file, names)) {
      mean.excluded.push_back(worker.rank);
      continue;
    }
    if (files.empty()) exchanged = std::move(names);
    mean.ranks.push_back(worker.rank);
    files.push_back({worker.rank, std::move(file)});
  }
  if (files.empty()) return std::nullopt;

  const SafetensorsFile& first = files.front().file;
  for (const Opened& opened : files) {
    for (const TensorView& tensor : opened.file.tensors()) {
      if (first.find(tensor.name) == nullptr) {
        throw FileError(first.name() + " lacks the tensor \"" + tensor.name + "\" that " +
                            opened.file.name() + " has",
                        kStrangers);
      }
    }
  }
  mean.metadata = first.metadata();
  std::vector<double> distances(files.size(), 0.0);
  double norm = 0;
  for (const TensorView& tensor : first.tensors()) {
    const auto all = same_tensor(files, tensor);
    if (tensor.dtype == "F16" || tensor.dtype == "BF16" || tensor.dtype.starts_with("F8")) {
      throw FileError("tensor \"" + tensor.name + "\" in " + first.name() + " is of type " +
                          tensor.dtype + ", which has no mean here",
                      "save the models in float32");
    }
    OwnedTensor& out = mean.tensors.emplace_back(
        OwnedTensor{tensor.name, tensor.dtype, tensor.shape,
                    std::vector<std::byte>(tensor.bytes.begin(), tensor.bytes.end())});
    if (!is_float(tensor.dtype)) continue;
    with_type(tensor.dtype, [&](auto type) {
      average<decltype(type)>(all, out, exchanged.contains(tensor.name), distances, norm);
    });
  }
  mean.consensus_distance = rms_ratio(distances, norm);
  return mean;
}

}  // namespace fast
