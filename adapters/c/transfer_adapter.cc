#include "adapters/c/transfer_adapter.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace fast::c {
namespace {

constexpr char kFollowing[] = "momentum/following";
constexpr std::size_t kNumbers = std::tuple_size_v<decltype(FollowingMomentum().state())>;

}  // namespace

TransferAdapter::TransferAdapter(std::vector<NamedTensor> arrays, Transfers transfers,
                                 float* averages)
    : arrays_(std::move(arrays)),
      averaged_(of_role(arrays_, Role::kAveraged), averages),
      flat_(exchanged()),
      slots_(flat_.parameters()),
      following_(of_role(arrays_, Role::kTrained).size()),
      transfers_(transfers) {
  for (std::size_t i = 0; i < following_.size(); ++i) trained_ += slots_[i].size;
  std::map<Role, std::size_t> count;
  for (const NamedTensor& array : arrays_) places_.push_back(count[array.role]++);
  attach(*this);
  attach(averaged_);
}

std::vector<NamedTensor> TransferAdapter::of_role(const std::vector<NamedTensor>& arrays,
                                                  Role role) {
  std::vector<NamedTensor> out;
  for (const NamedTensor& array : arrays) {
    if (array.role == role) out.push_back(array);
  }
  return out;
}

std::vector<NamedTensor> TransferAdapter::exchanged() {
  std::vector<NamedTensor> out = of_role(arrays_, Role::kTrained);
  for (NamedTensor& slot : averaged_.slots()) out.push_back(std::move(slot));
  return out;
}

std::size_t TransferAdapter::place_in_role(std::size_t index) const {
  if (index >= arrays_.size()) {
    throw ConfigError("array " + std::to_string(index) + " of " + std::to_string(arrays_.size()),
                      "count them from 0, in the order of fast_array()");
  }
  return places_[index];
}

std::vector<NamedTensor> TransferAdapter::state() {
  std::vector<NamedTensor> out = arrays_;
  for (const auto& [name, index] : aliases_) {
    out.push_back(arrays_[index]);
    out.back().name = name;
    out.back().alias = true;
  }
  return out;
}

void TransferAdapter::alias(std::string name, std::size_t index) {
  (void)place_in_role(index);
  aliases_.emplace_back(std::move(name), index);
}

void TransferAdapter::move(std::size_t index, void* memory) {
  const std::size_t place = place_in_role(index);
  NamedTensor& array = arrays_[index];
  auto* const bytes = static_cast<std::byte*>(memory);
  if (memory == nullptr && !array.bytes.empty()) {
    throw ConfigError("'" + array.name + "' has no memory", "pass the address of its elements");
  }
  array.bytes = {bytes, array.bytes.size()};
  if (array.role == Role::kTrained) flat_.move(place, bytes);
  if (array.role == Role::kAveraged) averaged_.move(place, array.bytes);
}

void TransferAdapter::transfer(fast_transfer how, const char* which, std::size_t first,
                               std::size_t count) const {
  const std::size_t end = std::min(first + count, trained_);
  if (how == nullptr || first >= end) return;
  const int result = how(transfers_.context, first, end - first);
  if (result == 0) return;
  throw AdapterError(std::string("the ") + which + " given to fast_set_transfers() returned " +
                         std::to_string(result) + " for " + std::to_string(end - first) +
                         " elements from " + std::to_string(first),
                     "look up this code at the framework that it calls");
}

void TransferAdapter::pull(std::size_t first, std::size_t count) {
  transfer(transfers_.pull, "pull", first, count);
  flat_.pull(first, count);
}

void TransferAdapter::push(std::size_t first, std::size_t count) {
  flat_.push(first, count);
  transfer(transfers_.push, "push", first, count);
}

bool TransferAdapter::in_place() const {
  return transfers_.pull == nullptr && transfers_.push == nullptr && flat_.in_place();
}

void TransferAdapter::follow(std::size_t index, void* momentum,
                             const FollowingMomentum::Step& step) {
  const std::size_t place = place_in_role(index);
  if (arrays_[index].role != Role::kTrained) {
    throw ConfigError("'" + arrays_[index].name + "' is " + std::string(name(arrays_[index].role)),
                      "only trained arrays have a momentum");
  }
  const ParameterSlot& slot = slots_[place];
  if (slot.size == 0) return;
  stencil::Follower& follower = followers().of(slot.offset, slot.size);
  if (momentum == nullptr) {
    follower.stop();
    following_[place] = {};
    return;
  }
  following_[place].stepped(follower, slot.type, momentum, step);
}

void TransferAdapter::save(StateWriter& to) {
  std::vector<double> numbers;
  for (const FollowingMomentum& one : following_) {
    const auto state = one.state();
    numbers.insert(numbers.end(), state.begin(), state.end());
  }
  to.put(kFollowing, std::span<const double>(numbers));
}

void TransferAdapter::load(const StateReader& from) {
  if (!from.has(kFollowing)) return;  // from another language or an earlier version
  std::vector<double> numbers(kNumbers * following_.size());
  from.read(kFollowing, std::span(numbers));
  for (std::size_t i = 0; i < following_.size(); ++i) {
    std::array<double, kNumbers> state{};
    std::copy_n(&numbers[i * kNumbers], kNumbers, state.begin());
    following_[i].set_state(state);
  }
}

}  // namespace fast::c
