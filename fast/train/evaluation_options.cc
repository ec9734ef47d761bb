#include "fast/train/evaluation_options.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <string>

#include "fast/errors.h"
#include "stencil/core/text.h"

namespace fast {
namespace {

template <typename T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The seconds of a unit; 0: it is none.
double seconds_of(char unit) {
  switch (unit) {
    case 's':
      return 1;
    case 'm':
      return 60;
    case 'h':
      return 3600;
    default:
      return 0;
  }
}

}  // namespace

bool EvaluationOptions::on() const {
  const EvaluationTimes times = EvaluationTimes::parse(every);
  return times.share > 0 || times.seconds > 0;
}

EvaluationTimes EvaluationTimes::parse(std::string_view text) {
  const double unit = text.empty() ? 0 : seconds_of(text.back());
  const auto value = number<double>(text.substr(0, text.size() - (unit > 0)));
  const double most = unit > 0 ? 1e9 : 1;
  if (!value || !(*value >= 0 && *value <= most)) {
    throw ConfigError("an evaluation every " + stencil::in_quotes(text),
                      "use a share of the run from 0 to 1, as 0.1, or a time, as 90s, 5m or 1h");
  }
  return unit > 0 ? EvaluationTimes{.seconds = *value * unit} : EvaluationTimes{.share = *value};
}

std::string_view name(Metric metric) {
  return metric == Metric::kAccuracy ? "accuracy" : "loss";
}

StopRule StopRule::parse(std::string_view text) {
  constexpr int kMostPatience = 1'000'000;
  const std::size_t colon = text.find(':');
  const std::string_view metric = text.substr(0, colon);
  const auto patience = colon == text.npos ? std::nullopt : number<int>(text.substr(colon + 1));
  const bool known = metric == name(Metric::kAccuracy) || metric == name(Metric::kLoss);
  if (!known || !patience || *patience < 1 || *patience > kMostPatience) {
    throw ConfigError("stopping when " + stencil::in_quotes(text),
                      "use METRIC:PATIENCE, as accuracy:3 or loss:5: so many evaluations that are "
                      "no better than the best");
  }
  return {metric == name(Metric::kLoss) ? Metric::kLoss : Metric::kAccuracy, *patience};
}

}  // namespace fast
