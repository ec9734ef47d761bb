#include "fast/report/print_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "fast/report/colours.h"
#include "fast/report/format.h"
#include "fast/report/verdict.h"
#include "fast/run/run_folder.h"

namespace fast {
namespace {

struct Row {
  std::string label, value;
  const char* colour = "";  ///< escape sequence for the value
  bool rule = false;        ///< a line across the table
};

/// The least columns of the values: a terminal that is narrower breaks lines by itself.
constexpr std::ptrdiff_t kNarrowest = 12;

/// The beginning of `text` that fits, up to the last space in it if there is one, and the rest.
std::pair<std::string, std::string> broken(const std::string& text, std::size_t columns) {
  const std::string fits = format::cut(text, columns);
  const std::size_t space = fits.rfind(' ');
  if (space == std::string::npos || space == 0) return {fits, text.substr(fits.size())};
  return {text.substr(0, space), text.substr(space + 1)};
}

/// Rows whose values take at most so many columns.
std::vector<Row> wrapped(const std::vector<Row>& rows, std::size_t columns) {
  std::vector<Row> out;
  for (Row row : rows) {
    while (format::width(row.value) > columns) {
      auto [fits, rest] = broken(row.value, columns);
      out.push_back({row.label, std::move(fits), row.colour});
      row.label.clear();
      row.value = std::move(rest);
    }
    out.push_back(std::move(row));
  }
  return out;
}

std::string joined(const std::vector<int>& ranks) {
  std::string text;
  for (const int rank : ranks) text += (text.empty() ? "" : ", ") + std::to_string(rank);
  return text;
}

const char* worker_or_workers(const std::vector<int>& ranks) {
  return ranks.size() == 1 ? "worker " : "workers ";
}

/// "workers 2 (once), 5 (3 times)". A summary of an earlier version does not know how often.
std::string restarted(const Summary& s) {
  std::string text;
  for (const int rank : s.restarted_ranks) {
    text += (text.empty() ? "" : ", ") + std::to_string(rank);
    const auto at = static_cast<std::size_t>(rank);
    if (at >= s.restarts.size()) continue;
    text += s.restarts[at] == 1 ? " (once)" : " (" + std::to_string(s.restarts[at]) + " times)";
  }
  return worker_or_workers(s.restarted_ranks) + text;
}

std::string accuracy(const std::optional<double>& fraction) {
  return fraction ? format::percent(*fraction) : "-";
}

/// "perplexity 11.2"
std::string told(const Measure& measure) {
  return fmt::format("{} {:.4g}", measure.name, *measure.value);
}

std::string mean_accuracy(const Summary& s) {
  if (!s.not_evaluated.empty()) return "not evaluated: " + s.not_evaluated;
  const bool by_loss = !s.test_accuracy.mean_model && s.test_loss;
  const std::string text = by_loss ? format::small(*s.test_loss) + " test loss"
                                   : accuracy(s.test_accuracy.mean_model) + " test accuracy";
  return s.test_measure.value ? text + ", " + told(s.test_measure) : text;
}

/// "72.1 % test accuracy, after evaluation 7".
std::string best_in_words(const Summary& s) {
  const BestModel& best = *s.best;
  std::string text = best.accuracy ? accuracy(best.accuracy) + " test accuracy, "
                     : best.loss   ? format::small(*best.loss) + " test loss, "
                                   : "";
  text += best.evaluation == "last" ? "the last" : "of evaluation " + best.evaluation;
  const auto workers = static_cast<std::size_t>(s.workers);
  if (best.ranks.size() < workers) text += ", by " + std::to_string(best.ranks.size()) + " workers";
  return text;
}

std::string model_and_data(const Summary& s) {
  return s.model.empty() ? "a program's own" : s.model + ", " + s.data;
}

std::string exit_codes(const Summary& s) {
  const bool all_well = std::all_of(s.exit_codes.begin(), s.exit_codes.end(),
                                    [](const auto& code) { return code == 0; });
  if (all_well) return "all 0";
  std::string text;
  bool others = false;
  for (std::size_t rank = 0; rank < s.exit_codes.size(); ++rank) {
    const auto& code = s.exit_codes[rank];
    if (code == 0) {
      others = true;
      continue;
    }
    text += (text.empty() ? "" : ", ") + std::string("worker ") + std::to_string(rank) + ": " +
            (code ? std::to_string(*code) : "unknown");
  }
  return text + (others ? "; others 0" : "");
}

std::vector<Row> rows_of(const Summary& s, const RunFolder& folder) {
  std::vector<Row> rows = {
      {"run", s.run_id},
      {"workers", std::to_string(s.workers) + " on " + s.topology + ", " + s.mode},
      {"model, data", model_and_data(s)},
      {"samples", format::count(static_cast<double>(s.samples)) + " in " +
                      format::seconds(s.training_seconds) + " of training, " +
                      format::seconds(s.wall_seconds) + " in all"},
      {"throughput", format::count(s.samples_per_second) + " samples/s"},
      {"", "", "", true},
      {"mean model", mean_accuracy(s), kBold},
      {"workers alone",
       accuracy(s.test_accuracy.worker_min) + " to " + accuracy(s.test_accuracy.worker_max)},
      {"consensus distance", s.consensus_distance ? format::small(*s.consensus_distance) : "-"},
      {"", "", "", true},
      {"exchanged",
       format::count(static_cast<double>(s.sweeps_completed)) + " sweeps, " +
           format::bytes(static_cast<double>(s.bytes_sent)) + " sent" +
           (s.bytes_shared == 0
                ? ""
                : ", " + format::bytes(static_cast<double>(s.bytes_shared)) + " in shared memory")},
      {"training time in it", format::percent(s.exchange_share)},
      {"exit codes", exit_codes(s), exit_codes(s) == "all 0" ? "" : kRed},
  };
  if (s.model.empty()) {
    std::erase_if(rows, [](const Row& row) { return row.label == "workers alone"; });
  }
  if (!s.lost_ranks.empty()) {
    rows.push_back({"lost", worker_or_workers(s.lost_ranks) + joined(s.lost_ranks), kRed});
  }
  if (const std::string text = shortfall_of(s); !text.empty()) {
    rows.push_back({"not made", text, kRed});
  }
  if (!s.restarted_ranks.empty()) {
    rows.push_back({"started again", restarted(s), kYellow});
  }
  if (!s.older_run_ranks.empty()) {
    rows.push_back(
        {"older run, not counted", "in the folders of " + joined(s.older_run_ranks), kYellow});
  }
  if (!s.islands.empty()) {
    rows.push_back({"fell apart into", "workers " + names_of(s.islands), kRed});
    rows.push_back({"", "whose models never met, or no longer at the end", kRed});
  }
  for (const LeftOut& worker : s.left_out) {
    rows.push_back({"not in the mean", std::to_string(worker.rank) + ": " + worker.why, kRed});
  }
  if (!s.not_learnt.empty()) rows.push_back({"no good", s.not_learnt, kRed});
  rows.push_back({"", "", "", true});
  rows.push_back(
      {"model to use",
       s.model_file ? (folder.root() / *s.model_file).string() : "none: no worker saved one",
       kBold});
  if (s.best) {
    rows.push_back({"best while it trained",
                    (folder.root() / s.best->file).string() + ", " + best_in_words(s), kBold});
  }
  rows.push_back({"report", folder.page().string(), kBold});
  return rows;
}

}  // namespace

void print_summary(std::ostream& out, const Summary& summary, const std::filesystem::path& folder,
                   TableStyle style) {
  std::vector<Row> rows = rows_of(summary, RunFolder(folder));
  std::vector<Row> verdict = {{"", verdict_of(summary), kBold}};
  if (style.width > 0) verdict = wrapped(verdict, static_cast<std::size_t>(style.width));
  for (const Row& line : verdict) {
    out << (style.colour ? line.colour : "") << line.value << (style.colour ? kReset : "") << '\n';
  }
  std::size_t labels = 0, values = 0;
  for (const Row& row : rows) labels = std::max(labels, format::width(row.label));
  if (style.width > 0) {
    const auto frame = static_cast<std::ptrdiff_t>(labels + 7);
    const auto room = std::max<std::ptrdiff_t>(style.width - frame, kNarrowest);
    rows = wrapped(rows, static_cast<std::size_t>(room));
  }
  for (const Row& row : rows) values = std::max(values, format::width(row.value));
  const char* bar = style.unicode ? "│" : "|";
  const auto rule = [&](const char* begin, const char* middle, const char* end) {
    std::string line = style.unicode ? begin : "+";
    const auto dashes = [&](std::size_t n) {
      for (std::size_t i = 0; i < n + 2; ++i) line += style.unicode ? "─" : "-";
    };
    dashes(labels);
    line += style.unicode ? middle : "+";
    dashes(values);
    out << line << (style.unicode ? end : "+") << '\n';
  };
  rule("╭", "┬", "╮");
  for (const Row& row : rows) {
    if (row.rule) {
      rule("├", "┼", "┤");
      continue;
    }
    const bool coloured = style.colour && *row.colour != '\0';
    out << bar << ' ' << format::left(row.label, labels) << ' ' << bar << ' '
        << (coloured ? row.colour : "") << format::left(row.value, values)
        << (coloured ? kReset : "") << ' ' << bar << '\n';
  }
  rule("╰", "┴", "╯");
}

}  // namespace fast
