#include "fast/report/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "fast/exit_codes.h"
#include "fast/report/format.h"

namespace fast {
namespace {

/// Of a run's samples: news of them takes a moment, so that a run ends a little before or after.
constexpr double kWhole = 0.995;

std::string names(const std::vector<int>& ranks) {
  return (ranks.size() == 1 ? "worker " : "workers ") + names_of({ranks});
}

/// Ranks whose workers did not end with `code`, whatever they ended with.
std::vector<int> ended_otherwise(const Summary& s, ExitCode code) {
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < s.exit_codes.size(); ++rank) {
    if (s.exit_codes[rank] != static_cast<int>(code)) ranks.push_back(static_cast<int>(rank));
  }
  return ranks;
}

std::string result_of(const Summary& s) {
  if (!s.model_file) return "No model was saved: there is no result.";
  const std::string& file = *s.model_file;
  if (!s.islands.empty()) {
    return "The run fell apart: " + file + " is the mean of " + names(s.islands.front()) +
           " alone.";
  }
  if (!s.left_out.empty()) {
    std::vector<int> ranks;
    for (const LeftOut& one : s.left_out) ranks.push_back(one.rank);
    return file + " is a mean that lacks " + names(ranks) + ".";
  }
  if (!s.not_learnt.empty()) return "The result is no good: " + s.not_learnt + ".";
  if (ended_otherwise(s, ExitCode::kInterrupted).empty()) {
    return "Stopped on request: " + file + " is the mean of what there was then.";
  }
  if (const auto badly = ended_otherwise(s, ExitCode::kOk); !badly.empty()) {
    return file + " is the mean of all models, but " + names(badly) + " did not end well.";
  }
  if (s.workers == 1) return "The one worker ended well: use " + file + ".";
  return "All " + std::to_string(s.workers) + " workers agree: use " + file + ".";
}

}  // namespace

std::string shortfall_of(const Summary& s) {
  const auto made = static_cast<double>(s.samples), aim = static_cast<double>(s.aim);
  if (s.short_ranks.empty() || made > kWhole * aim) return {};
  std::string after;
  for (const int rank : s.short_ranks) {
    const std::uint64_t own = s.samples_by_rank.at(static_cast<std::size_t>(rank));
    after += (after.empty() ? "" : ", ") + format::count(static_cast<double>(own));
  }
  return format::count(made) + " of " + format::count(aim) +
         " samples were made: " + names(s.short_ranks) + " ended early, having told of " + after +
         ", and the others did not make up for the rest";
}

std::string title_of(const Summary& s) {
  if (s.model.empty()) {
    return std::to_string(s.workers) + (s.workers == 1 ? " worker" : " workers") + " on " +
           s.topology;
  }
  return s.model + " on " + s.data.substr(0, s.data.find(':')) + ", " + s.topology;
}

std::string verdict_of(const Summary& s) {
  std::string text = result_of(s);
  if (!s.test_accuracy.mean_model && s.test_loss) {
    text += " Its loss on the test set is " + format::small(*s.test_loss) + ".";
  }
  if (s.test_accuracy.mean_model) {
    text +=
        " Its accuracy on the test set is " + format::percent(*s.test_accuracy.mean_model, 1) + ".";
  }
  if (s.test_measure.value) {
    text += fmt::format(" Its {} is {:.4g}.", s.test_measure.name, *s.test_measure.value);
  }
  if (s.workers > 1 && s.exchange_share > 0) {
    text += " The exchange took " + format::percent(s.exchange_share, s.exchange_share < 0.1) +
            " of training time.";
  }
  return text;
}

}  // namespace fast
