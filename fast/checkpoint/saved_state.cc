#include "fast/checkpoint/saved_state.h"

#include <algorithm>
#include <utility>

#include "fast/errors.h"

namespace fast {
namespace {

constexpr char kModel[] = "model/";

}  // namespace

void StateWriter::put(std::string name, std::string_view dtype, std::span<const std::int64_t> shape,
                      std::span<const std::byte> bytes) {
  if (only_counts_) {
    counted_ += bytes.size();
    return;
  }
  if (count_ == entries_.size()) entries_.emplace_back();
  Entry& entry = entries_[count_++];
  if (entry.capacity < bytes.size()) {
    entry.memory = std::make_unique_for_overwrite<std::byte[]>(bytes.size());
    entry.capacity = bytes.size();
  }
  std::ranges::copy(bytes, entry.memory.get());
  entry.tensor.name = std::move(name);
  entry.tensor.dtype = dtype;
  entry.tensor.shape.assign(shape.begin(), shape.end());
  entry.tensor.bytes = {entry.memory.get(), bytes.size()};
}

std::size_t StateWriter::held() const {
  std::size_t bytes = 0;
  for (const Entry& entry : entries_) bytes += entry.capacity;
  return bytes;
}

std::vector<NamedTensor> StateWriter::tensors() {
  std::vector<NamedTensor> out;
  for (std::size_t i = 0; i < count_; ++i) out.push_back(entries_[i].tensor);
  return out;
}

StateReader::StateReader(std::vector<TensorView> tensors, std::string origin)
    : tensors_(std::move(tensors)), origin_(std::move(origin)) {
  std::ranges::sort(tensors_, {}, &TensorView::name);
}

const TensorView* StateReader::find(std::string_view name) const {
  const auto it = std::ranges::lower_bound(tensors_, name, {}, &TensorView::name);
  return it != tensors_.end() && it->name == name ? &*it : nullptr;
}

const TensorView& StateReader::at(std::string_view name) const {
  if (const TensorView* const tensor = find(name)) return *tensor;
  throw FileError(
      origin_ + " has no '" + std::string(name) + "'",
      "resume with the model, optimizer and data that it was saved with, or start over");
}

std::size_t StateReader::length(std::string_view name) const {
  const TensorView& tensor = at(name);
  return tensor.shape.size() == 1 ? static_cast<std::size_t>(tensor.shape.front()) : 0;
}

void StateReader::read(std::string_view name, std::string_view dtype,
                       std::span<const std::int64_t> shape, std::span<std::byte> into) const {
  const TensorView& tensor = at(name);
  if (tensor.dtype != dtype || !std::ranges::equal(tensor.shape, shape) ||
      tensor.bytes.size() != into.size()) {
    throw FileError(
        "'" + std::string(name) + "' in " + origin_ + " is " + tensor.dtype + " of " +
            std::to_string(tensor.bytes.size()) + " bytes where " + std::string(dtype) + " of " +
            std::to_string(into.size()) + " was expected",
        "resume with the model, optimizer and data that it was saved with, or start over");
  }
  std::ranges::copy(tensor.bytes, into.begin());
}

void save_model(ModelAdapter& adapter, StateWriter& to) {
  for (Resumable* const part : adapter.parts()) part->save(to);
  for (const NamedTensor& tensor : adapter.state()) {
    if (tensor.alias) continue;
    to.put(kModel + tensor.name, tensor.dtype, tensor.shape, tensor.bytes);
  }
}

void load_model(ModelAdapter& adapter, const StateReader& from) {
  for (NamedTensor& tensor : adapter.state()) {
    if (tensor.alias) continue;
    from.read(kModel + tensor.name, tensor.dtype, tensor.shape, tensor.bytes);
  }
  for (Resumable* const part : adapter.parts()) part->load(from);
}

std::size_t saved_bytes(ModelAdapter& adapter) {
  StateWriter counter;
  counter.only_counts_ = true;
  save_model(adapter, counter);
  return counter.counted_;
}

}  // namespace fast
