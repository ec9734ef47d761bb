#include "fast/run/metrics.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <istream>
#include <iterator>
#include <sstream>

#include "fast/errors.h"
#include "fast/exit_codes.h"
#include "fast/run/atomic_file.h"
#include "fast/run/metrics_json.h"
#include "fast/run/thinning.h"

namespace fast {
namespace {

/// Lines that wait for room on the disk.
constexpr std::size_t kMostPending = 256;

bool ends_in_mid_line(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  if (!in || in.tellg() <= 0) return false;
  in.seekg(-1, std::ios::end);
  return in.get() != '\n';
}

std::size_t count_progress(std::istream& in) {
  std::size_t count = 0;
  for (std::string line; std::getline(in, line);) count += is_progress_line(line) ? 1 : 0;
  return count;
}

/// Well, or since somebody stopped it.
bool ended_as_meant(int exit_code) {
  return exit_code == static_cast<int>(ExitCode::kOk) ||
         exit_code == static_cast<int>(ExitCode::kInterrupted);
}

/// Joins the lines of one file into a history; times of later lives follow the earlier ones.
class HistoryBuilder {
 public:
  void add(WorkerStart start) {
    if (history_.starts > 0 && begins_anew(start)) {
      const int older = history_.older_runs + 1;
      const int unreadable = history_.unreadable_lines;
      *this = HistoryBuilder();
      history_.older_runs = older;
      history_.unreadable_lines = unreadable;
    }
    if (history_.starts == 0) {
      history_.start = std::move(start);
    } else {
      shift_ = latest_;
      history_.start.budget = start.budget;  // which may have grown
      history_.start.epochs = start.epochs;
    }
    ++history_.starts;
    const bool resumed = history_.end && ended_as_meant(history_.end->exit_code);
    history_.lives.push_back({shift_, history_.progress.size(), resumed});
    history_.end.reset();
  }
  void add(WorkerProgress progress) {
    progress.time = moved(progress.time);
    history_.progress.push_back(std::move(progress));
    if (history_.progress.size() < most_) return;
    thin(history_);
    most_ = std::max(kMostProgressLines, 2 * history_.progress.size());
  }
  void add(WorkerHistory::Event event) {
    event.time = moved(event.time);
    history_.events.push_back(std::move(event));
  }
  void add(WorkerEnd end) {
    end.time = moved(end.time);
    history_.end = std::move(end);
  }
  [[nodiscard]] WorkerHistory take() { return std::move(history_); }

  /// One line, without its end.
  void read(std::string_view line) {
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
    if (auto parsed = parse_metrics_line(line)) {
      std::visit([this](auto&& item) { add(std::move(item)); }, std::move(*parsed));
    } else {
      ++history_.unreadable_lines;
    }
  }

 private:
  [[nodiscard]] bool begins_anew(const WorkerStart& start) const {
    const WorkerStart& before = history_.start;
    const bool ended_well = history_.end && history_.end->exit_code == 0;
    return start.run_id != before.run_id || start.topology != before.topology ||
           start.model != before.model || start.fresh || (ended_well && !start.resumed);
  }

  double moved(double time) {
    time += shift_;
    latest_ = std::max(latest_, time);
    return time;
  }

  WorkerHistory history_;
  std::size_t most_ = kMostProgressLines;  ///< before progress is thinned
  double shift_ = 0, latest_ = 0;
};

}  // namespace

MetricsWriter::MetricsWriter(const std::filesystem::path& file)
    : file_(file), most_(kMostProgressLines) {
  std::ifstream in(file, std::ios::binary);
  progress_lines_ = count_progress(in);
  // A killed worker may have left half a line; ours must not be appended to it.
  const bool torn = ends_in_mid_line(file);
  open();
  if (out_ < 0) {
    throw FileError("cannot write " + file.string() + ": " + std::strerror(errno),
                    "check the folder, its permissions and space");
  }
  if (torn) pending_.emplace_back("\n");
}

MetricsWriter::~MetricsWriter() {
  if (out_ >= 0) ::close(out_);
}

void MetricsWriter::open() {
  out_ = ::open(file_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
}

void MetricsWriter::add(std::string line) {
  pending_.push_back(std::move(line) + '\n');
  if (out_ < 0) open();
  while (!pending_.empty()) {
    std::string& first = pending_.front();
    const ssize_t written = ::write(out_, first.data(), first.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) break;
    first.erase(0, static_cast<std::size_t>(written));
    begun_ = !first.empty();
    if (!begun_) pending_.pop_front();
  }
  if (pending_.size() <= kMostPending) return;
  const auto oldest =
      std::find_if(pending_.begin() + (begun_ ? 1 : 0), pending_.end(), is_progress_line);
  pending_.erase(oldest != pending_.end() ? oldest : pending_.end() - 2);
}

void MetricsWriter::start(const WorkerStart& start) {
  add(to_metrics_line(start));
}
void MetricsWriter::progress(const WorkerProgress& progress) {
  add(to_metrics_line(progress));
  if (++progress_lines_ >= most_ && !behind()) shorten();
}

void MetricsWriter::shorten() {
  try {
    std::ifstream in(file_, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    const std::string shorter = thinned(text);
    write_atomically(file_, shorter);
    ::close(out_);
    open();
    std::istringstream lines(shorter);
    progress_lines_ = count_progress(lines);
  } catch (const FileError&) {
    // The longer file is complete; there may be room for the shorter one later.
  }
  most_ = std::max(kMostProgressLines, 2 * progress_lines_);
}

void MetricsWriter::event(double time, const std::string& name, const std::string& text) {
  add(to_metrics_line(WorkerHistory::Event{time, name, text}));
}
void MetricsWriter::end(const WorkerEnd& end) {
  add(to_metrics_line(end));
}

WorkerHistory parse_metrics(std::string_view text) {
  HistoryBuilder builder;
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    builder.read(text.substr(0, newline));
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
  }
  return builder.take();
}

WorkerHistory read_metrics(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    throw FileError("cannot read " + file.string(), "is this the folder of a worker that has run?");
  }
  HistoryBuilder builder;
  for (std::string line; std::getline(in, line);) builder.read(line);
  WorkerHistory history = builder.take();
  if (history.starts == 0) {
    throw FileError(file.string() + " has no \"start\" line",
                    "it was not written by a worker, or the worker died before its first line");
  }
  return history;
}

}  // namespace fast
