#include "fast/session/loss_watch.h"

#include <array>
#include <charconv>
#include <cmath>

namespace fast {
namespace {

constexpr int kFirst = 10;               ///< steps
constexpr double kStepsRemembered = 50;  ///< of the decayed mean, in steps
constexpr double kGrowth = 1000;

std::string three_digits(double value) {
  std::array<char, 32> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 3);
  return {text.data(), end.ptr};
}

}  // namespace

void LossWatch::add(double loss) {
  if (!std::isfinite(loss)) return;
  if (count_ < kFirst) {
    sum_ += loss;
    if (++count_ == kFirst) first_ = recent_ = sum_ / kFirst;
    return;
  }
  recent_ = recent_ + (loss - recent_) / kStepsRemembered;
}

std::string LossWatch::grown() const {
  const double first = first_, recent = recent_;
  if (!(first > 0 && recent >= kGrowth * first)) return {};
  return "the loss has grown from " + three_digits(first) + " to " + three_digits(recent) +
         " while it trained; lower the learning rate";
}

}  // namespace fast
