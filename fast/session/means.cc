#include "fast/session/means.h"

#include <algorithm>
#include <utility>

#include "fast/errors.h"
#include "stencil/core/text.h"

namespace fast {
namespace {

/// Below this, a count is what rounding has left.
constexpr double kLeastCount = 1e-9;

}  // namespace

Means::Means(std::vector<std::string> names, int workers, std::span<const double> given,
             double steps)
    : workers_(workers) {
  for (std::string& name : names) slots_.push_back({.name = std::move(name), .faded_at = steps});
  if (given.size() != slots_.size()) return;
  for (std::size_t i = 0; i < given.size(); ++i) slots_[i].given = given[i];
}

std::size_t Means::find(std::string_view name) const {
  const auto it = std::ranges::find(slots_, name, &Slot::name);
  if (it != slots_.end()) return static_cast<std::size_t>(it - slots_.begin());
  std::vector<std::string_view> names;
  for (const Slot& slot : slots_) names.push_back(slot.name);
  throw ConfigError(
      "the session has no mean " + stencil::in_quotes(name) + stencil::suggestion(name, names),
      "name it in the option means, alike at all workers");
}

void Means::say(std::size_t number, double value, double steps, std::span<double> scalars) {
  if (!std::isfinite(value)) return;
  Slot& slot = slots_.at(number);
  Sums own = sums_of(number, scalars);
  Sums change{value, 1};
  if (!std::isnan(slot.given)) {
    const double faded = 1 - std::exp(-std::max(0.0, steps - slot.faded_at) / kFadeSteps);
    change = {value - slot.given + faded * (slot.given - own.sum), faded * (1 - own.count)};
  }
  slot.given = value;
  slot.faded_at = steps;
  slot.fresh += change;
  slot.known += change;
  own += change;
  scalars[kEach * number] = own.sum;
  scalars[kEach * number + 1] = own.count;
}

double Means::read(std::size_t number, std::span<const double> scalars) const {
  const Slot& slot = slots_.at(number);
  const double too_much = 1 - 1 / workers_;
  const Sums own = sums_of(number, scalars);
  const double sum = own.sum - too_much * (slot.fresh.sum + slot.untold.sum);
  const double count = own.count - too_much * (slot.fresh.count + slot.untold.count);
  return count > kLeastCount ? sum / count : std::nan("");
}

void Means::folded(bool heard, std::span<const double> scalars) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    const Sums now = sums_of(i, scalars);
    if (heard || now != slot.known) slot.untold = {};
    slot.untold += slot.fresh;
    slot.fresh = {};
    slot.known = now;
  }
}

void Means::averaged(std::span<const double> scalars) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    slots_[i].fresh = slots_[i].untold = {};
    slots_[i].known = sums_of(i, scalars);
  }
}

std::vector<double> Means::given() const {
  std::vector<double> out;
  for (const Slot& slot : slots_) out.push_back(slot.given);
  return out;
}

}  // namespace fast
