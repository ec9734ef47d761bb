#include "adapters/c/transfer_adapter.h"

#include <algorithm>
#include <array>
#include <string>
#include <tuple>
#include <utility>

namespace fast::c {
namespace {

constexpr char kFollowing[] = "momentum/following";
constexpr std::size_t kNumbers = std::tuple_size_v<decltype(FollowingMomentum().state())>;

void run(fast_transfer transfer, const char* which, void* context, std::size_t first,
         std::size_t count) {
  if (transfer == nullptr || count == 0) return;
  const int result = transfer(context, first, count);
  if (result == 0) return;
  throw AdapterError(std::string("the ") + which + " given to fast_set_transfers() returned " +
                         std::to_string(result) + " for " + std::to_string(count) +
                         " elements from " + std::to_string(first),
                     "look up this code at the framework that it calls");
}

}  // namespace

TransferAdapter::TransferAdapter(std::vector<NamedTensor> parameters,
                                 std::vector<NamedTensor> buffers, Transfers transfers)
    : flat_(std::move(parameters), std::move(buffers)),
      slots_(flat_.parameters()),
      following_(slots_.size()),
      transfers_(transfers) {
  attach(*this);
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

void TransferAdapter::pull(std::size_t first, std::size_t count) {
  run(transfers_.pull, "pull", transfers_.context, first, count);
  flat_.pull(first, count);
}

void TransferAdapter::push(std::size_t first, std::size_t count) {
  flat_.push(first, count);
  run(transfers_.push, "push", transfers_.context, first, count);
}

void TransferAdapter::follow(std::size_t parameter, void* momentum,
                             const FollowingMomentum::Step& step) {
  if (parameter >= slots_.size()) {
    throw ConfigError(
        "parameter " + std::to_string(parameter) + " of " + std::to_string(slots_.size()),
        "count them from 0, in the order of fast_parameter()");
  }
  const ParameterSlot& slot = slots_[parameter];
  if (slot.size == 0) return;
  stencil::Follower& follower = followers().of(slot.offset, slot.size);
  if (momentum == nullptr) {
    follower.stop();
    following_[parameter] = {};
    return;
  }
  following_[parameter].stepped(follower, slot.type, momentum, step);
}

}  // namespace fast::c
