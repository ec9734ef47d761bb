#include "fast/report/live_table.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <ostream>
#include <string_view>
#include <utility>

#include "fast/report/format.h"

namespace fast {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Of what workers know of one mean.
class MeanOf {
 public:
  explicit MeanOf(std::string name) : name_(std::move(name)) {}
  void add(const std::map<std::string, double>& means) {
    const auto it = means.find(name_);
    if (it == means.end() || !std::isfinite(it->second)) return;
    sum_ += it->second;
    ++count_;
  }
  /// NaN where none knows it.
  [[nodiscard]] double value() const { return count_ > 0 ? sum_ / count_ : std::nan(""); }

 private:
  std::string name_;
  double sum_ = 0;
  int count_ = 0;
};

}  // namespace

ScreenStyle screen_style() {
  ScreenStyle style;
  style.is_terminal = ::isatty(STDOUT_FILENO) != 0 && environment("TERM") != "dumb";
  style.colour = style.is_terminal && environment("NO_COLOR").empty();
  std::string_view locale = environment("LC_ALL");
  if (locale.empty()) locale = environment("LC_CTYPE");
  if (locale.empty()) locale = environment("LANG");
  for (const char* name : {"UTF-8", "utf-8", "UTF8", "utf8"}) {
    style.unicode = style.unicode || locale.find(name) != std::string_view::npos;
  }
  winsize size = {};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
    style.width = size.ws_col;
    style.height = size.ws_row;
  }
  return style;
}

NetworkView network_view(const std::vector<WorkerView>& workers) {
  NetworkView view;
  int said = 0, losses = 0;
  double loss = 0, time = 0, furthest = 0;
  MeanOf test_accuracy("test_accuracy"), test_loss("test_loss");
  for (const WorkerView& worker : workers) {
    const bool running = worker.process == WorkerView::Process::kRunning;
    view.running += running;
    const bool exited = worker.process == WorkerView::Process::kExited;
    view.exited += exited;
    view.failed += exited && worker.exit_code != 0;
    if (!worker.progress) continue;
    const WorkerProgress& p = *worker.progress;
    view.samples += static_cast<double>(p.samples);
    if (std::isfinite(p.progress)) {
      furthest = std::max(furthest, p.progress);
      // A worker that died makes no progress, so it does not count.
      if (!exited || worker.exit_code == 0) {
        view.progress += p.progress;
        ++said;
      }
    }
    if (running && std::isfinite(p.samples_per_second) && p.state == "training") {
      view.samples_per_second += p.samples_per_second;
    }
    if (std::isfinite(p.loss) && p.samples > 0) {
      loss += p.loss;
      ++losses;
    }
    test_accuracy.add(p.means);
    test_loss.add(p.means);
    if (running) time = std::max(time, p.time);
  }
  view.progress = std::clamp(said > 0 ? view.progress / said : furthest, 0.0, 1.0);
  view.test_accuracy = test_accuracy.value();
  view.test_loss = test_loss.value();
  view.loss = losses > 0 ? loss / losses : std::numeric_limits<double>::quiet_NaN();
  if (view.progress > 0.005 && time > 0) view.eta = time * (1 - view.progress) / view.progress;
  return view;
}

std::string test_in_words(const NetworkView& view) {
  if (std::isfinite(view.test_accuracy)) return "  test " + format::percent(view.test_accuracy, 1);
  if (std::isfinite(view.test_loss)) return "  test loss " + format::fixed(view.test_loss, 4);
  return {};
}

std::string counted_as_made(const NetworkView& view) {
  return fmt::format(", {} with an error, whose share counts as made", view.failed);
}

std::string render_line(double elapsed, const std::vector<WorkerView>& workers) {
  const NetworkView view = network_view(workers);
  std::string line =
      fmt::format("[{:>7}] {:>5} trained  {} samples  {} samples/s  loss {}  {} running",
                  format::seconds(elapsed), format::percent(view.progress, 0),
                  format::count(view.samples), format::count(view.samples_per_second),
                  format::fixed(view.loss, 4) + test_in_words(view), view.running);
  if (view.exited > 0) line += fmt::format(", {} ended", view.exited);
  if (view.failed > 0) line += counted_as_made(view);
  if (view.eta >= 0 && view.progress < 1) line += "  ETA " + format::seconds(view.eta);
  return line;
}

void LiveTable::resize(int width, int height) {
  style_.width = width;
  style_.height = height;
}

void LiveTable::update(double elapsed, const std::vector<WorkerView>& workers) {
  if (style_.is_terminal) {
    draw(render_table(workers, style_));
  } else if (elapsed >= next_plain_) {
    next_plain_ = elapsed + style_.plain_every;
    out_ << render_line(elapsed, workers) << '\n' << std::flush;
  }
}

void LiveTable::say(const std::string& text) {
  if (!style_.is_terminal) {
    out_ << text << '\n' << std::flush;
    return;
  }
  const std::vector<std::string> lines = drawn_;
  erase();
  out_ << text << '\n';
  draw(lines);
}

void LiveTable::finish(double elapsed, const std::vector<WorkerView>& workers) {
  next_plain_ = elapsed;
  update(elapsed, workers);
  drawn_.clear();
}

void LiveTable::erase() {
  if (!drawn_.empty()) out_ << "\x1b[" << drawn_.size() << "A\r\x1b[J";
  drawn_.clear();
}

void LiveTable::draw(const std::vector<std::string>& lines) {
  // Overwrites line by line: erasing everything first would flicker.
  if (!drawn_.empty()) out_ << "\x1b[" << drawn_.size() << "A\r";
  for (const std::string& line : lines) out_ << line << "\x1b[K\n";
  if (drawn_.size() > lines.size()) out_ << "\x1b[J";
  out_ << std::flush;
  drawn_ = lines;
}

}  // namespace fast
