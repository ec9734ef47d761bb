#include "fast/run/metrics.h"

#include <algorithm>
#include <iterator>

#include "fast/errors.h"
#include "fast/run/metrics_json.h"

namespace fast {
namespace {

bool ends_in_mid_line(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  if (!in || in.tellg() <= 0) return false;
  in.seekg(-1, std::ios::end);
  return in.get() != '\n';
}

/// Puts the lines of one file after each other; times of later lives follow the earlier ones.
class HistoryBuilder {
 public:
  void add(WorkerStart start) {
    if (history_.starts == 0) {
      history_.start = std::move(start);
    } else {
      // Clocks may be set back between two lives: time never runs backwards here.
      shift_ = std::max(start.unix_time - history_.start.unix_time, latest_);
    }
    ++history_.starts;
    history_.lives.push_back({shift_, history_.progress.size()});
    history_.end.reset();
  }
  void add(WorkerProgress progress) {
    progress.time = moved(progress.time);
    history_.progress.push_back(std::move(progress));
  }
  void add(WorkerHistory::Event event) {
    event.time = moved(event.time);
    history_.events.push_back(std::move(event));
  }
  void add(WorkerEnd end) {
    end.time = moved(end.time);
    history_.end = std::move(end);
  }
  void unreadable() { ++history_.unreadable_lines; }
  [[nodiscard]] WorkerHistory take() { return std::move(history_); }

 private:
  double moved(double time) {
    time += shift_;
    latest_ = std::max(latest_, time);
    return time;
  }

  WorkerHistory history_;
  double shift_ = 0, latest_ = 0;
};

}  // namespace

MetricsWriter::MetricsWriter(const std::filesystem::path& file) {
  // A worker that was killed may have left half a line: ours must not be glued to it.
  const bool torn = ends_in_mid_line(file);
  out_.open(file, std::ios::binary | std::ios::app);
  if (!out_) {
    throw FileError("cannot write " + file.string(), "check the folder, its permissions and space");
  }
  if (torn) out_ << '\n';
}

void MetricsWriter::start(const WorkerStart& start) {
  out_ << to_metrics_line(start) << '\n' << std::flush;
}
void MetricsWriter::progress(const WorkerProgress& progress) {
  out_ << to_metrics_line(progress) << '\n' << std::flush;
}
void MetricsWriter::event(double time, const std::string& name, const std::string& text) {
  out_ << to_metrics_line(WorkerHistory::Event{time, name, text}) << '\n' << std::flush;
}
void MetricsWriter::end(const WorkerEnd& end) {
  out_ << to_metrics_line(end) << '\n' << std::flush;
}

WorkerHistory parse_metrics(std::string_view text) {
  HistoryBuilder builder;
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    const std::string_view line = text.substr(0, newline);
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (auto parsed = parse_metrics_line(line)) {
      std::visit([&](auto&& item) { builder.add(std::move(item)); }, std::move(*parsed));
    } else {
      builder.unreadable();
    }
  }
  return builder.take();
}

WorkerHistory read_metrics(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    throw FileError("cannot read " + file.string(), "is this the folder of a worker that has run?");
  }
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  WorkerHistory history = parse_metrics(text);
  if (history.starts == 0) {
    throw FileError(file.string() + " has no \"start\" line",
                    "it was not written by a worker, or the worker died before its first line");
  }
  return history;
}

}  // namespace fast
