#include "adapters/dlib/dlib_adapter.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "adapters/dlib/dlib_layers.h"
#include "fast/errors.h"

namespace fast {

std::span<float> DlibAdapter::Array::memory() const {
  return {tensor->host() + first, size};
}

DlibAdapter::DlibAdapter(std::vector<DlibLayer> layers, DlibAdapterOptions options) {
  if (!options.names.empty() && options.names.size() != layers.size()) {
    throw AdapterError("the network has " + std::to_string(layers.size()) +
                           " layers with parameters, and there are " +
                           std::to_string(options.names.size()) + " names",
                       "give a name for each, from the input on");
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (!options.names.empty()) layers[i].name = options.names[i];
    add(layers[i]);
  }
  std::stable_partition(arrays_.begin(), arrays_.end(),
                        [](const Array& a) { return a.role == Role::kTrained; });
  for (const Array& array : arrays_) {
    if (array.role != Role::kTrained) continue;
    slots_.push_back({array.name, array.shape, trained_, array.size});
    trained_ += array.size;
  }
  if (trained_ == 0) {
    throw AdapterError("the network has no parameters that are trained",
                       "leave a learning rate multiplier above zero");
  }
  values_.resize(trained_);
  if (options.mix_buffers && has_statistics()) average_statistics();
  pull(0, trained_);
}

DlibAdapter::~DlibAdapter() = default;

void DlibAdapter::add(DlibLayer& layer) {
  const std::string prefix = layer.name.empty() ? "" : layer.name + ".";
  std::size_t first = 0;
  for (DlibPart& part : layer.parts) {
    std::size_t size = 1;
    for (const std::int64_t side : part.shape) size *= static_cast<std::size_t>(side);
    arrays_.push_back({prefix + part.name, std::move(part.shape), layer.parameters, layer.gradient,
                       first, size, layer.parameters->size(),
                       layer.trained ? Role::kTrained : Role::kCarried});
    first += size;
  }
  const DlibStatistics& norm = layer.statistics;
  if (norm.mean == nullptr) return;
  const std::size_t channels = norm.mean->size();
  const std::vector<std::int64_t> shape = {static_cast<std::int64_t>(channels)};
  arrays_.push_back(
      {prefix + "running_mean", shape, norm.mean, nullptr, 0, channels, channels, Role::kAveraged});
  arrays_.push_back({prefix + "running_var", shape, norm.variance, nullptr, 0, channels, channels,
                     Role::kAveraged});
  norms_.push_back({prefix + "num_batches_tracked", std::make_unique<DlibStatistics>(norm),
                    static_cast<std::int64_t>(*norm.updates), *norm.updates, *norm.window});
}

/// Their slots follow the parameters in values().
void DlibAdapter::average_statistics() {
  std::vector<NamedTensor> arrays;
  std::size_t end = trained_;
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    if (arrays_[i].role != Role::kAveraged) continue;
    averages_.push_back(i);
    arrays.push_back(named(arrays_[i]));
    end += arrays_[i].size;
  }
  values_.resize(end);
  averaged_.emplace(std::move(arrays), values_.data() + trained_);
  std::size_t offset = trained_;
  for (const NamedTensor& slot : averaged_->slots()) {
    const std::size_t size = slot.bytes.size() / sizeof(float);
    slots_.push_back({slot.name, slot.shape, offset, size});
    offset += size;
  }
  attach(*this);
  attach(*averaged_);
}

/// Follows memory that the network has replaced, and counters on either side.
void DlibAdapter::reconcile() {
  for (const Array& array : arrays_) {
    if (array.tensor->size() == array.whole) continue;
    throw AdapterError("'" + array.name + "' has another size than when it was attached",
                       "keep the sizes of the network, or make a new adapter and session");
  }
  for (std::size_t i = 0; i < averages_.size(); ++i) {
    averaged_->move(i, std::as_writable_bytes(arrays_[averages_[i]].memory()));
  }
  for (Norm& norm : norms_) {
    const DlibStatistics& layer = *norm.layer;
    if (norm.counted != static_cast<std::int64_t>(norm.seen)) {  // written, as by a checkpoint
      const auto written = static_cast<unsigned long>(std::max<std::int64_t>(0, norm.counted));
      *layer.updates = std::min(written, *layer.window);
      layer.batch_mean->copy_size(*layer.mean);
      layer.batch_scale->copy_size(*layer.mean);
    }
    norm.seen = *layer.updates;
    norm.counted = static_cast<std::int64_t>(norm.seen);
  }
}

std::span<float> DlibAdapter::values() {
  reconcile();
  return values_;
}

template <typename Copy>
void DlibAdapter::each(std::size_t first, std::size_t count, Copy copy) {
  for (std::size_t i = 0; i < slots_.size() && slots_[i].offset < trained_; ++i) {
    const std::size_t begin = std::max(first, slots_[i].offset);
    const std::size_t end = std::min(first + count, slots_[i].offset + slots_[i].size);
    if (begin >= end) continue;
    copy(arrays_[i].memory().subspan(begin - slots_[i].offset, end - begin),
         std::span(values_).subspan(begin, end - begin));
  }
}

void DlibAdapter::pull(std::size_t first, std::size_t count) {
  each(first, count, [](std::span<float> memory, std::span<float> values) {
    std::ranges::copy(memory, values.begin());
  });
}

void DlibAdapter::push(std::size_t first, std::size_t count) {
  each(first, count, [](std::span<float> memory, std::span<float> values) {
    std::ranges::copy(values, memory.begin());
  });
}

NamedTensor DlibAdapter::named(const Array& array) const {
  return {.name = array.name,
          .dtype = "F32",
          .shape = array.shape,
          .bytes = std::as_writable_bytes(array.memory()),
          .role = array.role};
}

std::vector<NamedTensor> DlibAdapter::state() {
  reconcile();
  std::vector<NamedTensor> result;
  for (const Array& array : arrays_) result.push_back(named(array));
  for (Norm& norm : norms_) {
    result.push_back({.name = norm.name,
                      .dtype = "I64",
                      .shape = {},
                      .bytes = std::as_writable_bytes(std::span(&norm.counted, 1)),
                      .role = Role::kCarried});
  }
  return result;
}

void DlibAdapter::each_trained(const Visit& visit) {
  for (std::size_t i = 0; i < slots_.size() && slots_[i].offset < trained_; ++i) {
    const Array& array = arrays_[i];
    visit(slots_[i].offset, array.memory(), {array.gradient->host() + array.first, array.size});
  }
}

void DlibAdapter::begin_statistics() {
  end_statistics();
  gathering_ = true;
  for (Norm& norm : norms_) {
    norm.kept_window = *norm.layer->window;
    *norm.layer->window = std::numeric_limits<unsigned long>::max();
    *norm.layer->updates = 0;
  }
}

void DlibAdapter::end_statistics() {
  if (!std::exchange(gathering_, false)) return;
  for (Norm& norm : norms_) {
    *norm.layer->window = norm.kept_window;
    *norm.layer->updates = std::min(*norm.layer->updates, norm.kept_window);
  }
}

}  // namespace fast
