#include "adapters/torch/torch_adapter.h"

#include <algorithm>
#include <sstream>
#include <string_view>
#include <utility>

#include "adapters/torch/tensor_types.h"

namespace fast {
namespace {

std::string describe(torch::IntArrayRef sizes) {
  std::ostringstream text;
  text << sizes;
  return text.str();
}

// A contiguous tensor as an array.
NamedTensor array(const RegisteredTensor& registered) {
  const auto& [name, tensor, exchanged, statistics] = registered;
  const Role role = exchanged ? Role::kTrained : statistics ? Role::kAveraged : Role::kCarried;
  return {name,
          dtype_name(name, tensor.scalar_type()),
          tensor.sizes().vec(),
          {static_cast<std::byte*>(tensor.data_ptr()), tensor.nbytes()},
          role};
}

// Why the adapter cannot take over the new memory of `now`, or an empty string.
std::string why_not_followed(const torch::Tensor& now, torch::IntArrayRef expected,
                             torch::ScalarType type) {
  if (auto reason = why_not_exchangeable(now); !reason.empty()) return reason;
  if (now.scalar_type() != type) {
    std::ostringstream text;
    text << "of type " << now.scalar_type();
    return text.str();
  }
  if (now.sizes() != expected) {
    return "of shape " + describe(now.sizes()) + " instead of " + describe(expected);
  }
  return {};
}

}  // namespace

TorchAdapter::TorchAdapter(torch::nn::Module& module, TorchAdapterOptions options)
    : TorchAdapter(registered_tensors(module), std::move(options)) {}

TorchAdapter::TorchAdapter(std::vector<RegisteredTensor> tensors, TorchAdapterOptions options)
    : tensors_(std::move(tensors)), log_(std::move(options.log)) {
  const auto groups = group_by_memory(tensors_);
  if (groups.empty()) {
    throw AdapterError("the model has no trainable parameters",
                       "register them (register_module, register_parameter) before attaching, and "
                       "leave requires_grad set");
  }
  torch::NoGradGuard no_grad;
  std::size_t size = 0;
  for (const auto& group : groups) add_group(group, size);
  std::vector<std::size_t> statistics;
  std::size_t averaged = 0;
  for (std::size_t i = 0; options.mix_buffers && i < tensors_.size(); ++i) {
    if (!tensors_[i].statistics || tensors_[i].exchanged) continue;
    statistics.push_back(i);
    averaged += static_cast<std::size_t>(tensors_[i].tensor.numel());
  }
  flat_ = torch::empty({static_cast<std::int64_t>(size + averaged)}, torch::kFloat32);
  for (std::size_t slot = 0; slot < groups.size(); ++slot) move_in(groups[slot], slot);
  if (!statistics.empty()) average_statistics(statistics, size);
}

// Their slots follow the parameters in the flat vector.
void TorchAdapter::average_statistics(const std::vector<std::size_t>& statistics,
                                      std::size_t offset) {
  std::vector<NamedTensor> arrays;
  for (const std::size_t index : statistics) {
    torch::Tensor& tensor = tensors_[index].tensor;
    if (const auto reason = why_not_exchangeable(tensor); !reason.empty()) {
      throw AdapterError("'" + tensors_[index].name + "' cannot be averaged: it is " + reason,
                         "keep running statistics in plain memory on the CPU");
    }
    if (!tensor.is_contiguous()) tensor.set_data(tensor.contiguous());
    statistics_.push_back({index, tensor.data_ptr()});
    arrays.push_back(array(tensors_[index]));
  }
  averaged_.emplace(std::move(arrays), flat_.data_ptr<float>() + offset);
  for (const NamedTensor& slot : averaged_->slots()) {
    const std::size_t size = slot.bytes.size() / sizeof(float);
    slots_.push_back({slot.name, slot.shape, offset, size});
    offset += size;
  }
  attach(*averaged_);
}

void TorchAdapter::follow_statistics() {
  for (std::size_t i = 0; i < statistics_.size(); ++i) {
    torch::Tensor& tensor = tensors_[statistics_[i].tensor].tensor;
    if (!is_addressable(tensor)) {
      throw AdapterError("'" + tensors_[statistics_[i].tensor].name +
                             "' was moved from the CPU since it was attached",
                         "keep the model on the CPU, or make a new adapter and session");
    }
    if (!tensor.is_contiguous()) tensor.set_data(tensor.contiguous());
    if (std::exchange(statistics_[i].at, tensor.data_ptr()) == tensor.data_ptr()) continue;
    averaged_->move(i, {static_cast<std::byte*>(tensor.data_ptr()), tensor.nbytes()});
  }
}

void TorchAdapter::add_group(const TensorGroup& group, std::size_t& offset) {
  const auto& [name, tensor, exchanged, statistics] = tensors_[group.first];
  const auto size = static_cast<std::size_t>(tensor.numel());
  const auto type = stencil::element_type(dtype_name(name, tensor.scalar_type()));
  slots_.push_back({name, tensor.sizes().vec(), offset, size, type.value()});
  offset += size;
}

void TorchAdapter::move_in(const TensorGroup& group, std::size_t slot) {
  const auto first = tensors_[group.first].tensor.contiguous();
  const bool was_contiguous = first.is_same(tensors_[group.first].tensor);
  auto* data = flat_.data_ptr<float>() + slots_[slot].offset;
  const bool in_place = first.scalar_type() == torch::kFloat32;
  if (in_place) std::copy_n(first.data_ptr<float>(), slots_[slot].size, data);
  for (const auto index : group.members) {
    auto& tensor = tensors_[index].tensor;
    if (!in_place) {
      if (!tensor.is_contiguous()) tensor.set_data(first);
      homes_.push_back({index, slot, data, tensor.sizes().vec(), {}, tensor.scalar_type()});
      continue;
    }
    // Tied tensors of another shape (a transposed view) keep their strides. If the first one had to
    // be made contiguous, all of them get its layout.
    const auto strides = was_contiguous ? tensor.strides().vec() : first.strides().vec();
    homes_.push_back({index, slot, data, tensor.sizes().vec(), strides, torch::kFloat32});
    tensor.set_data(view_of(homes_.back()));
  }
}

// A storage of its own for each view, of exactly its size, that keeps the flat memory alive:
// torch::save writes whole storages, and would write the flat vector once per parameter.
torch::Tensor TorchAdapter::view_of(const Home& home) const {
  return torch::from_blob(
      home.data, home.sizes, home.strides, [flat = flat_](void*) {}, torch::kFloat32);
}

bool TorchAdapter::at_home(const Home& home) const {
  const auto& tensor = tensors_[home.tensor].tensor;
  if (!is_addressable(tensor) || tensor.scalar_type() != home.type) return false;
  if (tensor.sizes() != torch::IntArrayRef(home.sizes)) return false;
  if (tensor.numel() == 0) return true;
  if (home.type != torch::kFloat32) {
    const auto first = std::ranges::find(homes_, home.slot, &Home::slot);
    return tensor.is_contiguous() && tensor.data_ptr() == tensors_[first->tensor].tensor.data_ptr();
  }
  return tensor.data_ptr() == home.data && tensor.strides() == torch::IntArrayRef(home.strides);
}

std::vector<stencil::ParameterSlot> TorchAdapter::parameters() const {
  return slots_;
}

std::span<float> TorchAdapter::values() {
  if (!std::ranges::all_of(homes_, [this](const Home& home) { return at_home(home); })) {
    bring_home();
  }
  follow_statistics();
  return {flat_.data_ptr<float>(), static_cast<std::size_t>(flat_.numel())};
}

void TorchAdapter::bring_home() {
  torch::NoGradGuard no_grad;
  std::vector<const Home*> moved;
  for (const auto& home : homes_) {
    if (at_home(home)) continue;
    const auto& [name, tensor, exchanged, statistics] = tensors_[home.tensor];
    if (const auto reason = why_not_followed(tensor, home.sizes, home.type); !reason.empty()) {
      throw AdapterError("'" + name + "' was replaced since it was attached, and is now " + reason,
                         "keep the model in its types on the CPU and its shapes as they were, or "
                         "make a new adapter and session");
    }
    if (home.type == torch::kFloat32) {
      moved.push_back(&home);
    } else if (std::ranges::count(homes_, home.slot, &Home::slot) > 1) {
      throw AdapterError("'" + name +
                             "' was tied to another when attached, and has memory of its own "
                             "now",
                         "tie it again, or make a new adapter and session");
    } else {
      tensors_[home.tensor].tensor.set_data(tensor.contiguous());
    }
  }
  if (!moved.empty()) copy_in(moved);
}

// Copies float32 parameters whose memory was replaced to their places, and makes them views again.
void TorchAdapter::copy_in(const std::vector<const Home*>& moved) {
  const Home* before = nullptr;  // the last parameter copied in
  for (const auto* home : moved) {
    const auto& [name, tensor, exchanged, statistics] = tensors_[home->tensor];
    auto place = view_of(*home);
    if (before == nullptr || before->slot != home->slot) {
      place.copy_(tensor);
      before = home;
    } else if (!torch::equal(place, tensor)) {
      throw AdapterError("'" + name + "' and '" + tensors_[before->tensor].name +
                             "' were tied when attached, and were given different values",
                         "give both the same values, or make a new adapter and session");
    }
  }
  for (const auto* home : moved) {
    auto& tensor = tensors_[home->tensor].tensor;
    tensor.set_data(view_of(*home));
  }
  if (log_) {
    log_(stencil::LogLevel::kInfo,
         std::to_string(moved.size()) + " of " + std::to_string(homes_.size()) +
             " parameters were replaced since the last exchange (first: '" +
             tensors_[moved.front()->tensor].name + "'): their new values are used");
  }
}

void TorchAdapter::each_copied(std::size_t first, std::size_t count, const Copied& visit) {
  torch::NoGradGuard no_grad;
  const std::size_t end = first + count;
  for (std::size_t h = 0; h < homes_.size(); ++h) {
    const Home& home = homes_[h];
    if (home.type == torch::kFloat32 || (h > 0 && homes_[h - 1].slot == home.slot)) continue;
    const stencil::ParameterSlot& slot = slots_[home.slot];
    const std::size_t begin = std::max(first, slot.offset);
    const std::size_t stop = std::min(end, slot.offset + slot.size);
    if (begin >= stop) continue;
    const auto at = static_cast<std::int64_t>(begin);
    const auto size = static_cast<std::int64_t>(stop - begin);
    const auto within = static_cast<std::int64_t>(begin - slot.offset);
    visit(tensors_[home.tensor].tensor.variable_data().view(-1).narrow(0, within, size),
          flat_.narrow(0, at, size));
  }
}

void TorchAdapter::pull(std::size_t first, std::size_t count) {
  each_copied(first, count, [](torch::Tensor tensor, torch::Tensor place) { place.copy_(tensor); });
}

void TorchAdapter::push(std::size_t first, std::size_t count) {
  each_copied(first, count, [](torch::Tensor tensor, torch::Tensor place) {
    if (tensor.scalar_type() != torch::kFloat64) {
      tensor.copy_(place);
      return;
    }
    // Adds only the change since the pull, so that the digits beyond a float's are kept.
    tensor.add_(place.to(torch::kFloat64).sub_(tensor.to(torch::kFloat32)));
  });
}

bool TorchAdapter::in_place() const {
  return std::ranges::all_of(homes_, [](const Home& home) { return home.type == torch::kFloat32; });
}

void TorchAdapter::uses(const torch::nn::Module& module) {
  const auto [known, is_new] = used_.try_emplace(&module);
  if (is_new) known->second = ranges_of(module);
  for (const auto& [first, count] : known->second) needed(first, count);
}

std::vector<TorchAdapter::Range> TorchAdapter::ranges_of(const torch::nn::Module& module) const {
  std::vector<Range> found;
  for (const torch::Tensor& parameter : module.parameters()) {
    for (const Home& home : homes_) {
      if (!tensors_[home.tensor].tensor.is_same(parameter)) continue;
      found.emplace_back(slots_[home.slot].offset, slots_[home.slot].size);
    }
  }
  std::ranges::sort(found);
  std::vector<Range> joined;
  for (const Range& one : found) {
    if (!joined.empty() && joined.back().first + joined.back().second == one.first) {
      joined.back().second += one.second;
    } else {
      joined.push_back(one);
    }
  }
  return joined;
}

std::size_t TorchAdapter::offset_of(const torch::Tensor& parameter) const {
  const auto home = std::ranges::find_if(
      homes_, [&](const Home& one) { return tensors_[one.tensor].tensor.is_same(parameter); });
  if (home == homes_.end()) {
    throw stencil::InvariantError("TorchAdapter::offset_of() a tensor that is not exchanged");
  }
  return slots_[home->slot].offset;
}

std::vector<NamedTensor> TorchAdapter::state() {
  (void)values();
  torch::NoGradGuard no_grad;
  std::vector<NamedTensor> result;
  std::vector<std::pair<const void*, std::size_t>> seen;
  for (auto& registered : tensors_) {
    auto& [name, tensor, exchanged, statistics] = registered;
    if (!is_addressable(tensor)) {
      throw AdapterError("'" + name + "' has no bytes on the CPU that could be saved",
                         "move it with .to(torch::kCPU) first");
    }
    const std::pair<const void*, std::size_t> memory(tensor.data_ptr(), tensor.nbytes());
    if (memory.second != 0 && std::ranges::find(seen, memory) != seen.end()) continue;
    seen.push_back(memory);
    if (!tensor.is_contiguous()) tensor.set_data(tensor.contiguous());
    result.push_back(array(registered));
  }
  return result;
}

}  // namespace fast
