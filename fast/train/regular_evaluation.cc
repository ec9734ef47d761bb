#include "fast/train/regular_evaluation.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "fast/session/exchange.h"

namespace fast {
namespace {

constexpr char kNumber[] = "evaluation/number";
constexpr char kPending[] = "evaluation/pending";
constexpr char kBest[] = "evaluation/best";
constexpr char kSince[] = "evaluation/since";

/// NaN where workers decide nothing together.
double mean_of(Exchange& exchange, const char* name, std::optional<double> said = {}) {
  Decisions* const all = exchange.decisions();
  return all == nullptr ? std::nan("") : all->mean(name, said);
}

/// By a stop rule, or else by what there is to judge by.
Metric metric_of(const std::optional<StopRule>& rule, const Dataset& data) {
  if (rule) return rule->metric;
  return data.spec.has_labels() ? Metric::kAccuracy : Metric::kLoss;
}

}  // namespace

RegularEvaluation::RegularEvaluation(const EvaluationOptions& options, Learner& learner,
                                     const Dataset& data, ModelKeeper& keeper,
                                     const std::atomic<bool>& stop)
    : options_(options),
      times_(EvaluationTimes::parse(options.every)),
      learner_(learner),
      data_(data),
      keeper_(keeper),
      stop_(stop) {
  if (!options.stop_when.empty()) rule_ = StopRule::parse(options.stop_when);
  best_.metric = metric_of(rule_, data);
  if (options_.on()) learner_.adapter().attach(*this);
}

RegularEvaluation::~RegularEvaluation() {
  if (options_.on()) learner_.adapter().detach(*this);
}

void RegularEvaluation::begin(double progress) {
  if (times_.share > 0) {
    shares_ = resumed_ ? static_cast<double>(number_) : std::floor(progress / times_.share);
  }
  last_ = std::chrono::steady_clock::now();
}

bool RegularEvaluation::due(double progress) {
  if (progress >= kWholeRun) return false;
  if (times_.seconds > 0) {
    const std::chrono::duration<double> since = std::chrono::steady_clock::now() - last_;
    return since.count() >= times_.seconds;
  }
  return times_.share > 0 && std::floor(progress / times_.share) > shares_;
}

std::optional<TestResult> RegularEvaluation::evaluate() const {
  return test(learner_, data_, stop_, static_cast<std::size_t>(options_.examples));
}

std::optional<std::string> RegularEvaluation::look(Exchange& exchange, Recorder& recorder) {
  const double progress = exchange.progress();
  if (!due(progress)) return std::nullopt;
  const bool judged = judge_last(exchange);
  if (judged && rule_ && best_.since >= static_cast<std::uint64_t>(rule_->patience)) {
    const std::string why = fmt::format(
        "the {} on the test set, as the mean over all workers, has been no better than {:.6g} in "
        "{} "
        "evaluations (--stop-when {})",
        name(best_.metric), best_.value.value_or(std::nan("")), best_.since, options_.stop_when);
    recorder.event("stopping", why);
    if (Decisions* const all = exchange.decisions()) all->stop_all(why);
    return std::nullopt;
  }
  const auto begun = std::chrono::steady_clock::now();
  const std::optional<TestResult> result = evaluate();
  if (!result) return std::nullopt;
  last_ = std::chrono::steady_clock::now();
  if (times_.share > 0) shares_ = std::floor(progress / times_.share);
  const std::chrono::duration<double> took = last_ - begun;
  recorder.set_result(known(result->accuracy), result->loss, took.count());
  number_ = times_.share > 0 ? static_cast<std::uint64_t>(shares_) : number_ + 1;
  propose(exchange, *result);
  return fmt::format("after {:.0f} % of the run: {}", 100 * progress, in_words(*result));
}

void RegularEvaluation::propose(Exchange& exchange, const TestResult& result) {
  (void)mean_of(exchange, kTestAccuracy, result.accuracy);
  (void)mean_of(exchange, kTestLoss, result.loss);
  pending_ = true;
  if (options_.keep_best) keeper_.propose(number_);
}

bool RegularEvaluation::judge_last(Exchange& exchange) {
  if (!std::exchange(pending_, false)) return false;
  const double mean =
      mean_of(exchange, best_.metric == Metric::kAccuracy ? kTestAccuracy : kTestLoss);
  if (best_.judge(mean) && options_.keep_best) keeper_.keep_proposed();
  return true;
}

void RegularEvaluation::end(Exchange& exchange, const TestResult& result) {
  if (!options_.keep_best || !options_.on()) return;
  (void)judge_last(exchange);
  const std::optional<TestResult> alike = options_.examples == 0 ? result : evaluate();
  if (alike && best_.judge(value_of(*alike))) {
    keeper_.propose(ModelKeeper::kLast);
    keeper_.keep_proposed();
  }
  keeper_.drop_proposed();
}

void RegularEvaluation::save(StateWriter& to) {
  to.put(kNumber, number_);
  to.put(kPending, static_cast<std::uint8_t>(pending_));
  to.put(kSince, best_.since);
  if (best_.value) to.put(kBest, *best_.value);
}

void RegularEvaluation::load(const StateReader& from) {
  if (!from.has(kNumber)) return;  // of a run that did not evaluate
  resumed_ = true;
  number_ = from.value<std::uint64_t>(kNumber);
  pending_ = from.value<std::uint8_t>(kPending) != 0;
  best_.since = from.value<std::uint64_t>(kSince);
  if (from.has(kBest)) best_.value = from.value<double>(kBest);
}

}  // namespace fast
