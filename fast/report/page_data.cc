#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "fast/report/drawing.h"
#include "fast/report/page.h"
#include "fast/report/page_template.h"
#include "fast/report/series.h"
#include "fast/report/verdict.h"
#include "fast/run/totals.h"

namespace fast {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostPoints = 600;          // of one series
constexpr std::size_t kMostPointsInAll = 60'000;  // of one quantity over all workers
constexpr std::size_t kMeanPoints = 300;
constexpr std::size_t kMostEvents = 2'000;

/// A number rounded to six digits, which are more than a screen shows; null where it is not finite.
ordered_json number(double value) {
  if (!std::isfinite(value)) return nullptr;
  if (value == 0) return 0;
  const double scale = std::pow(10, 6 - std::ceil(std::log10(std::fabs(value))));
  const double rounded = std::round(value * scale) / scale;
  return std::isfinite(rounded) ? rounded : value;
}

ordered_json number(const std::optional<double>& value) {
  return value ? number(*value) : ordered_json(nullptr);
}

double round_trip(const WorkerProgress& p) {
  double sum = 0;
  int count = 0;
  for (const NeighbourProgress& n : p.neighbours) {
    if (!(n.round_trip_ms > 0)) continue;
    sum += n.round_trip_ms;
    ++count;
  }
  return count > 0 ? sum / count : std::nan("");
}

/// Of a map of numbers; NaN where it has none of that name.
double number_of(const std::map<std::string, double>& numbers, const std::string& name) {
  const auto it = numbers.find(name);
  return it == numbers.end() ? std::nan("") : it->second;
}

/// How a number that workers have told each other (Session::mean()) is called among the series.
std::string series_name(const std::string& name) {
  return "said/" + name;
}

class PageData {
 public:
  PageData(const RunRecords& records, const Summary& summary)
      : records_(records), summary_(summary) {
    most_points_ = std::clamp<std::size_t>(
        kMostPointsInAll / std::max<std::size_t>(records.workers.size(), 1), 20, kMostPoints);
    for (const WorkerRecords& worker : records.workers) {
      for (const WorkerProgress& p : worker.history.progress) {
        for (const auto& [name, value] : p.said) said_.insert(name);
      }
    }
  }

  ordered_json make(const Configuration& config) {
    ordered_json page;
    page["title"] = title_of(summary_);
    page["verdict"] = verdict_of(summary_);
    page["shortfall"] = shortfall_of(summary_);
    page["whole"] = summary_.whole() && summary_.not_learnt.empty();
    page["summary"] = ordered_json::parse(to_json(summary_));
    page["workers"] = ordered_json::array();
    for (int rank = 0; rank < records_.expected; ++rank) page["workers"].push_back(worker(rank));
    page["said"] = said_;
    page["mean"] = means();
    page["grid"] = grid();
    page["events"] = events();
    page["config"] = config.file;
    page["settings"] = ordered_json::array();
    for (const Setting& one : config.settings) {
      page["settings"].push_back({one.name, one.value, one.usual});
    }
    page["started"] = records_.start().unix_time;
    return page;
  }

 private:
  [[nodiscard]] bool lost(int rank) const {
    const auto& ranks = summary_.lost_ranks;
    return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
  }

  ordered_json worker(int rank) {
    const WorkerRecords* found = records_.find(rank);
    ordered_json out = {{"rank", rank}, {"lost", lost(rank)}, {"missing", found == nullptr}};
    const auto& code = summary_.exit_codes[static_cast<std::size_t>(rank)];
    out["exit_code"] = code ? ordered_json(*code) : ordered_json(nullptr);
    if (found == nullptr) return out;

    const WorkerHistory& history = found->history;
    const WorkerTotals totals = totals_of(history);
    out["starts"] = history.starts;
    out["unreadable_lines"] = history.unreadable_lines;
    out["samples"] = totals.samples;
    out["sweeps"] = totals.sweeps;
    out["bytes"] = totals.bytes;
    out["bytes_shared"] = totals.bytes_shared;
    out["test_accuracy"] = number(totals.test_accuracy);
    out["exchange_share"] =
        number(totals.training_seconds > 0 ? totals.exchange_seconds / totals.training_seconds
                                           : std::nan(""));
    out["samples_per_second"] = number(
        totals.training_seconds > 0 ? static_cast<double>(totals.samples) / totals.training_seconds
                                    : std::nan(""));
    out["text"] = history.end ? history.end->text : "";
    if (!history.progress.empty()) {
      out["loss"] = number(history.progress.back().loss);
      out["state"] = history.progress.back().state;
    }
    if (history.end) {
      out["counters"] = ordered_json::object();
      for (const auto& [name, count] : history.end->counters) {
        if (count > 0) out["counters"][name] = count;
      }
    }
    out["series"] = series(*found);
    return out;
  }

  ordered_json series(const WorkerRecords& worker) {
    const auto& progress = worker.history.progress;
    ordered_json out;
    for (const char* name :
         {"time", "samples", "loss", "accuracy", "consensus", "rate", "round_trip", "progress",
          "learning_rate", "test_accuracy", "test_loss"}) {
      out[name] = ordered_json::array();
    }
    for (const std::string& name : said_) out[series_name(name)] = ordered_json::array();
    for (const std::size_t i : thinned(progress.size(), most_points_)) {
      const WorkerProgress& p = progress[i];
      out["time"].push_back(number(p.time));
      out["samples"].push_back(number(p.network_samples));
      out["loss"].push_back(p.samples > 0 ? number(p.loss) : ordered_json(nullptr));
      out["accuracy"].push_back(number(p.samples > 0 ? p.accuracy : std::nullopt));
      out["consensus"].push_back(p.consensus_distance > 0 ? number(p.consensus_distance)
                                                          : ordered_json(nullptr));
      out["rate"].push_back(number(p.samples_per_second));
      out["round_trip"].push_back(number(round_trip(p)));
      out["progress"].push_back(number(p.progress));
      // A session does not know it, before the first step nobody does.
      out["learning_rate"].push_back(p.learning_rate > 0 ? number(p.learning_rate)
                                                         : ordered_json(nullptr));
      out["test_accuracy"].push_back(number(p.test_accuracy));
      out["test_loss"].push_back(number(p.test_loss));
      for (const std::string& name : said_) {
        out[series_name(name)].push_back(number(number_of(p.said, name)));
      }
    }
    return out;
  }

  template <typename X, typename Y>
  ordered_json mean(X x_of, Y y_of) const {
    std::vector<Series> curves;
    for (const WorkerRecords& worker : records_.workers) {
      Series curve;
      for (const WorkerProgress& p : worker.history.progress) {
        const double x = x_of(worker, p);
        // After a restart, a worker's samples may decrease for a moment.
        if (!std::isfinite(x) || (!curve.empty() && x < curve.back().first)) continue;
        curve.emplace_back(x, p.samples > 0 ? y_of(p) : std::nan(""));
      }
      curves.push_back(std::move(curve));
    }
    ordered_json points = ordered_json::array();
    for (const auto& [x, y] : mean_of(curves, kMeanPoints)) {
      points.push_back(ordered_json::array({number(x), number(y)}));
    }
    return points;
  }

  [[nodiscard]] ordered_json means() const {
    const auto time = [](const WorkerRecords&, const WorkerProgress& p) { return p.time; };
    const auto samples = [](const WorkerRecords&, const WorkerProgress& p) {
      return p.network_samples;
    };
    ordered_json out;
    const auto add = [&](const std::string& name, const auto& y) {
      out[name] = {{"time", mean(time, y)}, {"samples", mean(samples, y)}};
    };
    add("loss", [](const WorkerProgress& p) { return p.loss; });
    add("accuracy", [](const WorkerProgress& p) { return p.accuracy.value_or(std::nan("")); });
    // As workers knew them: on the test set, and of what a program has said.
    const auto add_known = [&](const std::string& series, const std::string& name) {
      add(series, [&name](const WorkerProgress& p) { return number_of(p.means, name); });
    };
    for (const std::string name : {"test_accuracy", "test_loss"}) add_known(name, name);
    for (const std::string& name : said_) add_known(series_name(name), name);
    return out;
  }

  [[nodiscard]] ordered_json grid() const {
    std::map<std::pair<int, int>, const EdgeTotals*> totals;
    std::vector<std::pair<int, int>> known;
    for (const EdgeTotals& edge : summary_.edges) {
      const auto [a, b] = edge.ranks;
      totals[{a, b}] = &edge;
      known.emplace_back(a, b);
    }
    const Drawing drawing = draw_topology(summary_.topology, records_.expected, known);
    ordered_json out;
    out["places"] = ordered_json::array();
    for (const auto& [x, y] : drawing.places) {
      out["places"].push_back(ordered_json::array({number(x), number(y)}));
    }
    out["edges"] = ordered_json::array();
    for (const Drawing::Edge& edge : drawing.edges) {
      const auto it = totals.find({edge.a, edge.b});
      const EdgeTotals none;
      const EdgeTotals& t = it == totals.end() ? none : *it->second;
      out["edges"].push_back({{"a", edge.a},
                              {"b", edge.b},
                              {"wraps", edge.wraps},
                              {"sweeps", t.sweeps},
                              {"bytes", t.bytes},
                              {"round_trip", number(t.round_trip_ms)},
                              {"other_grid", t.other_grid}});
    }
    return out;
  }

  [[nodiscard]] ordered_json events() const {
    struct Row {
      double time;
      int rank;
      std::string name, text;
    };
    std::vector<Row> rows;
    for (const WorkerRecords& worker : records_.workers) {
      const WorkerHistory& history = worker.history;
      for (const auto& event : history.events) {
        rows.push_back({event.time, worker.rank, event.event, event.text});
      }
      for (std::size_t life = 1; life < history.lives.size(); ++life) {
        const WorkerHistory::Life& one = history.lives[life];
        rows.push_back({one.time, worker.rank, one.resumed ? "resumed" : "restart",
                        one.resumed ? "the run was resumed" : "started again"});
      }
      if (history.end) {
        rows.push_back({history.end->time, worker.rank, "end", history.end->text});
      } else {
        rows.push_back({totals_of(history).last_time, worker.rank, "lost",
                        "last heard of; it died without a last word"});
      }
    }
    for (Row& row : rows) {
      if (!std::isfinite(row.time)) row.time = 0;
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Row& a, const Row& b) { return a.time < b.time; });
    ordered_json list = ordered_json::array();
    for (const std::size_t i : thinned(rows.size(), kMostEvents)) {
      list.push_back({number(rows[i].time), rows[i].rank, rows[i].name, rows[i].text});
    }
    return {{"total", rows.size()}, {"list", std::move(list)}};
  }

  const RunRecords& records_;
  const Summary& summary_;
  std::set<std::string> said_;  ///< names of what workers have told each other
  std::size_t most_points_ = kMostPoints;
};

}  // namespace

std::string page_data(const RunRecords& records, const Summary& summary,
                      const Configuration& config) {
  return script_safe(PageData(records, summary)
                         .make(config)
                         .dump(-1, ' ', false, ordered_json::error_handler_t::replace));
}

}  // namespace fast
