#include "adapters/torch/tensor_groups.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <sstream>
#include <string_view>

#include "fast/errors.h"

namespace fast {
namespace {

// The run of memory from a tensor's first to its last element, in bytes.
struct Extent {
  std::uintptr_t begin = 0, end = 0;
  friend bool operator==(const Extent&, const Extent&) = default;
};

Extent extent_of(const torch::Tensor& tensor) {
  const auto begin = reinterpret_cast<std::uintptr_t>(tensor.data_ptr());
  if (tensor.numel() == 0) return {begin, begin};
  std::int64_t last = 0;
  for (std::int64_t d = 0; d < tensor.dim(); ++d) last += (tensor.size(d) - 1) * tensor.stride(d);
  return {begin, begin + static_cast<std::uintptr_t>(last + 1) * tensor.element_size()};
}

// Whether a tensor is expanded: several indices share one element.
bool repeats_elements(const torch::Tensor& tensor) {
  for (std::int64_t d = 0; d < tensor.dim(); ++d) {
    if (tensor.size(d) > 1 && tensor.stride(d) == 0) return true;
  }
  return false;
}

[[noreturn]] void refuse(const std::string& name, std::string_view what) {
  throw AdapterError("'" + name + "' cannot be exchanged: it is " + std::string(what),
                     "exchanged are dense tensors of float32, float64, float16 or bfloat16 on the "
                     "CPU: convert it with .to(torch::kCPU, torch::kFloat32), or keep it out with "
                     "requires_grad_(false)");
}

[[noreturn]] void refuse_overlap(const std::string& one, const std::string& other) {
  throw AdapterError("'" + one + "' and '" + other + "' share a part of their memory",
                     "give each its own memory (.clone()), or tie them whole");
}

bool is_exchanged_type(torch::ScalarType type) {
  return type == torch::kFloat32 || type == torch::kFloat64 || type == torch::kFloat16 ||
         type == torch::kBFloat16;
}

struct Placed {
  Extent extent;
  std::size_t index;
};

// A group is moved with the layout of its first member; strides within it must describe the others.
void choose_first(const std::vector<RegisteredTensor>& tensors, TensorGroup& group) {
  const auto better = [&](std::size_t a, std::size_t b) {
    const auto rank = [&](std::size_t i) {
      return (tensors[i].tensor.is_contiguous() ? 0 : 2) + (tensors[i].exchanged ? 0 : 1);
    };
    return rank(a) < rank(b);
  };
  group.first = *std::ranges::min_element(group.members, better);
  const auto& first = tensors[group.first].tensor;
  for (const auto index : group.members) {
    const auto& tensor = tensors[index].tensor;
    const bool moves = first.scalar_type() == torch::kFloat32;
    if (tensor.scalar_type() != first.scalar_type() ||
        (!moves && group.members.size() > 1 && !tensor.is_contiguous())) {
      refuse_overlap(tensors[group.first].name, tensors[index].name);
    }
  }
  if (first.is_contiguous()) return;
  for (const auto index : group.members) {
    const auto& tensor = tensors[index].tensor;
    if (tensor.sizes() != first.sizes() || tensor.strides() != first.strides()) {
      refuse_overlap(tensors[group.first].name, tensors[index].name);
    }
  }
}

}  // namespace

bool is_addressable(const torch::Tensor& tensor) {
  return tensor.layout() == torch::kStrided && tensor.device().is_cpu() && tensor.has_storage();
}

std::string why_not_exchangeable(const torch::Tensor& tensor) {
  std::ostringstream text;
  if (tensor.layout() != torch::kStrided) {
    text << "of layout " << tensor.layout();
  } else if (!tensor.device().is_cpu()) {
    text << "on " << tensor.device();
  } else if (!is_exchanged_type(tensor.scalar_type())) {
    text << "of type " << tensor.scalar_type();
  } else if (!tensor.has_storage()) {
    text << "without memory of its own";
  } else if (repeats_elements(tensor)) {
    text << "an expanded tensor";
  }
  return text.str();
}

std::vector<RegisteredTensor> registered_tensors(const torch::nn::Module& module) {
  std::vector<RegisteredTensor> result;
  for (const auto& item : module.named_parameters()) {
    if (item.value().defined()) {
      result.push_back({item.key(), item.value(), item.value().requires_grad()});
    }
  }
  for (const auto& item : module.named_buffers()) {
    const std::string& name = item.key();
    if (!item.value().defined()) continue;
    const bool statistics = name.ends_with("running_mean") || name.ends_with("running_var");
    result.push_back({name, item.value(), false, statistics && item.value().is_floating_point()});
  }
  return result;
}

std::vector<TensorGroup> group_by_memory(const std::vector<RegisteredTensor>& tensors) {
  std::vector<Placed> placed;
  std::vector<TensorGroup> groups;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto& [name, tensor, exchanged, statistics] = tensors[i];
    if (exchanged) {
      if (const auto reason = why_not_exchangeable(tensor); !reason.empty()) refuse(name, reason);
      if (!tensor.is_leaf()) refuse(name, "computed from other tensors (not a leaf)");
    }
    if (!is_addressable(tensor)) continue;
    if (tensor.numel() > 0) {
      placed.push_back({extent_of(tensor), i});
    } else if (exchanged) {
      groups.push_back({{i}, i});
    }
  }
  std::ranges::stable_sort(placed, {}, [](const Placed& p) { return p.extent.begin; });

  // One sweep over memory: a cluster is a run of extents that touch. Where one of its tensors is
  // exchanged, all must lie in exactly the same place.
  for (std::size_t begin = 0; begin < placed.size();) {
    std::size_t end = begin + 1;
    auto reach = placed[begin].extent.end;
    for (; end < placed.size() && placed[end].extent.begin < reach; ++end) {
      reach = std::max(reach, placed[end].extent.end);
    }
    const auto cluster = std::span(placed).subspan(begin, end - begin);
    begin = end;
    if (std::ranges::none_of(cluster, [&](auto& p) { return tensors[p.index].exchanged; })) {
      continue;
    }
    TensorGroup group;
    for (const auto& [extent, index] : cluster) {
      if (extent != cluster.front().extent) {
        refuse_overlap(tensors[cluster.front().index].name, tensors[index].name);
      }
      const auto reason = why_not_exchangeable(tensors[index].tensor);
      if (!reason.empty()) refuse(tensors[index].name, reason + ", in the memory of another");
      group.members.push_back(index);
    }
    choose_first(tensors, group);
    groups.push_back(std::move(group));
  }
  std::ranges::sort(groups, {}, [](const TensorGroup& g) { return g.members.front(); });
  return groups;
}

}  // namespace fast
