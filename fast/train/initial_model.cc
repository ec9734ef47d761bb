#include "fast/train/initial_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "fast/errors.h"

namespace fast {
namespace {

const TensorView* saved_of(std::span<const TensorView> tensors, const std::string& name) {
  const auto it = std::ranges::find(tensors, name, &TensorView::name);
  return it == tensors.end() ? nullptr : &*it;
}

bool is_known(std::span<const NamedTensor> tensors, const std::string& name) {
  return std::ranges::find(tensors, name, &NamedTensor::name) != tensors.end();
}

bool fits(const TensorView& from, const NamedTensor& to) {
  return from.dtype == to.dtype && from.shape == to.shape && from.bytes.size() == to.bytes.size();
}

/// "F32 [2, 3]"
template <typename Tensor>
std::string form(const Tensor& tensor) {
  return fmt::format("{} [{}]", tensor.dtype, fmt::join(tensor.shape, ", "));
}

/// "; not in it: a, b", or nothing.
std::string clause(const char* title, const std::vector<std::string>& names) {
  return names.empty() ? "" : fmt::format("; {}: {}", title, fmt::join(names, ", "));
}

}  // namespace

void load_state(std::span<const TensorView> from, ModelAdapter& model, const std::string& whose,
                const std::string& remedy) {
  const auto refused = [&](const std::string& why) {
    return FileError(whose + " is of another model: " + why, remedy);
  };
  const std::vector<NamedTensor> wanted = model.state();
  for (const NamedTensor& tensor : wanted) {
    const TensorView* const saved = saved_of(from, tensor.name);
    if (saved == nullptr) throw refused("it has no tensor '" + tensor.name + "'");
    if (!fits(*saved, tensor)) {
      throw refused(fmt::format("tensor '{}' is {} there, and {} here", tensor.name, form(*saved),
                                form(tensor)));
    }
  }
  for (const TensorView& tensor : from) {
    if (is_known(wanted, tensor.name)) continue;
    throw refused("its tensor '" + tensor.name + "' is none of this one");
  }
  for (const NamedTensor& tensor : wanted) {
    std::ranges::copy(saved_of(from, tensor.name)->bytes, tensor.bytes.begin());
  }
}

void begin_from(const std::filesystem::path& file, ModelAdapter& adapter) {
  const SafetensorsFile saved = SafetensorsFile::open(file);
  load_state(saved.tensors(), adapter, file.string(),
             "give one of the same names and shapes with --init, or --init-partial beside it");
}

std::string begin_partly_from(const std::filesystem::path& file, ModelAdapter& adapter) {
  const SafetensorsFile saved = SafetensorsFile::open(file);
  const std::vector<NamedTensor> wanted = adapter.state();
  std::vector<std::string> taken, lacking, other, beside;
  for (const NamedTensor& tensor : wanted) {
    const TensorView* const from = saved_of(saved.tensors(), tensor.name);
    if (from == nullptr) {
      lacking.push_back(tensor.name);
    } else if (!fits(*from, tensor)) {
      other.push_back(
          fmt::format("{} ({} there, {} here)", tensor.name, form(*from), form(tensor)));
    } else {
      std::ranges::copy(from->bytes, tensor.bytes.begin());
      taken.push_back(tensor.name);
    }
  }
  for (const TensorView& tensor : saved.tensors()) {
    if (!is_known(wanted, tensor.name)) beside.push_back(tensor.name);
  }
  const std::string misfits = clause("not in it", lacking) + clause("of another form", other) +
                              clause("in it and not used", beside);
  if (taken.empty()) {
    throw FileError(fmt::format("nothing of {} fits the model{}", file.string(), misfits),
                    "give one that has parameters of the same names and shapes");
  }
  return fmt::format("begins with {} of {} arrays of {}: {}{}", taken.size(), wanted.size(),
                     file.string(), fmt::join(taken, ", "), misfits);
}

}  // namespace fast
