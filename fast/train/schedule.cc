#include "fast/train/schedule.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>

#include "fast/errors.h"

namespace fast {
namespace {

constexpr char kForms[] =
    "use constant, cosine or step:FACTOR@P1,P2,... (FACTOR > 0; progress points rising, between 0 "
    "and 1; e.g. step:0.1@0.5,0.75)";

double parse_number(std::string_view text, std::string_view spec) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
    throw ConfigError(
        "schedule '" + std::string(spec) + "': '" + std::string(text) + "' is no number", kForms);
  }
  return value;
}

}  // namespace

Schedule Schedule::parse(std::string_view spec, double base_rate, double warmup) {
  if (!std::isfinite(base_rate) || base_rate < 0) {
    throw ConfigError("learning rate " + std::to_string(base_rate), "use a finite number >= 0");
  }
  if (!(warmup >= 0 && warmup < 1)) {
    throw ConfigError("warm-up " + std::to_string(warmup),
                      "use the share of the run, from 0 to below 1, e.g. 0.05");
  }
  Schedule schedule;
  schedule.base_ = base_rate;
  schedule.warmup_ = warmup;
  if (spec == "constant") return schedule;
  if (spec == "cosine") {
    schedule.kind_ = Kind::kCosine;
    return schedule;
  }
  constexpr std::string_view kStep = "step:";
  const std::size_t at = spec.find('@');
  if (!spec.starts_with(kStep) || at == std::string_view::npos) {
    throw ConfigError("unknown schedule '" + std::string(spec) + "'", kForms);
  }
  schedule.kind_ = Kind::kStep;
  schedule.factor_ = parse_number(spec.substr(kStep.size(), at - kStep.size()), spec);
  if (schedule.factor_ <= 0) {
    throw ConfigError("schedule '" + std::string(spec) + "': FACTOR is not above 0", kForms);
  }
  std::string_view rest = spec.substr(at + 1);
  for (double previous = 0;;) {
    const std::size_t comma = rest.find(',');
    const double point = parse_number(rest.substr(0, comma), spec);
    if (point <= previous || point >= 1) {
      throw ConfigError("schedule '" + std::string(spec) + "': '" +
                            std::string(rest.substr(0, comma)) +
                            "' does not lie between the point before it and 1",
                        kForms);
    }
    schedule.steps_.push_back(previous = point);
    if (comma == std::string_view::npos) return schedule;
    rest.remove_prefix(comma + 1);
  }
}

double Schedule::rate(double progress) const {
  const double at = progress > 0 ? std::min(progress, 1.0) : 0.0;  // NaN counts as the start
  if (at < warmup_) return base_ * at / warmup_;
  switch (kind_) {
    case Kind::kCosine: {
      const double share = (at - warmup_) / (1.0 - warmup_);
      return base_ * 0.5 * (1.0 + std::cos(std::numbers::pi * share));
    }
    case Kind::kStep: {
      double rate = base_;
      for (const double point : steps_) {
        if (at >= point) rate *= factor_;
      }
      return rate;
    }
    case Kind::kConstant:
      break;
  }
  return base_;
}

}  // namespace fast
