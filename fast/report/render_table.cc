#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fast/report/colours.h"
#include "fast/report/format.h"
#include "fast/report/live_table.h"

namespace fast {
namespace {

class TableRenderer {
 public:
  TableRenderer(const std::vector<WorkerView>& workers, const ScreenStyle& style)
      : workers_(workers), style_(style) {}

  std::vector<std::string> render() {
    std::vector<std::string> lines = {network()};
    const std::size_t room = static_cast<std::size_t>(std::max(style_.height - 1, 2));
    std::size_t rows = workers_.size();
    const bool header = room >= 3;
    if (header) lines.push_back(paint(kDim, heading()));
    if (rows > room - lines.size()) rows = room - lines.size() - 1;
    for (std::size_t rank = 0; rank < rows; ++rank) lines.push_back(row(rank));
    if (rows < workers_.size()) lines.push_back(paint(kDim, hidden(rows)));
    for (std::string& line : lines) {
      line = format::cut(line, static_cast<std::size_t>(std::max(style_.width - 1, 1)));
    }
    return lines;
  }

 private:
  [[nodiscard]] std::string paint(const char* colour, const std::string& text) const {
    return style_.colour && !text.empty() ? colour + text + kReset : text;
  }

  [[nodiscard]] std::string bar(double fraction, int columns, const char* colour) const {
    fraction = std::isfinite(fraction) ? std::clamp(fraction, 0.0, 1.0) : 0;
    const int full = static_cast<int>(std::lround(fraction * columns));
    std::string done, rest;
    for (int i = 0; i < full; ++i) done += style_.unicode ? "━" : "#";
    for (int i = full; i < columns; ++i) rest += style_.unicode ? "─" : ".";
    return paint(colour, done) + paint(kDim, rest);
  }

  [[nodiscard]] std::string network() const {
    const NetworkView view = network_view(workers_);
    const int columns = style_.width >= 110 ? 30 : style_.width >= 70 ? 16 : 8;
    std::string line = bar(view.progress, columns, kCyan) + " " +
                       paint(kBold, fmt::format("{:>4}", format::percent(view.progress, 0)));
    line += fmt::format("  {} samples  {} samples/s  loss {}", format::count(view.samples),
                        format::count(view.samples_per_second), format::fixed(view.loss, 3));
    line += test_in_words(view);
    if (view.eta >= 0 && view.progress < 1) line += "  ETA " + format::seconds(view.eta);
    if (view.failed > 0)
      line += paint(kRed, fmt::format("  {} ended", view.exited) + counted_as_made(view));
    return line;
  }

  [[nodiscard]] int bar_columns() const { return style_.width >= 110 ? 14 : 8; }

  [[nodiscard]] std::string heading() const {
    return format::left("worker", 8) + format::left("", bar_columns() + 1) +
           format::left("state", 10) + format::right("samples/s", 10) + format::right("loss", 9) +
           format::right("accuracy", 10) + "  neighbours (since last sweep)";
  }

  [[nodiscard]] std::string state_of(const WorkerView& worker) const {
    if (worker.process == WorkerView::Process::kExited) {
      return worker.exit_code == 0
                 ? paint(kGreen, format::left("done", 10))
                 : paint(kRed, format::left(fmt::format("exit {}", worker.exit_code), 10));
    }
    if (!worker.progress) return paint(kDim, format::left("starting", 10));
    const std::string& state = worker.progress->state;
    const bool settled = state == "settled" || state == "frozen";
    return paint(settled ? kGreen : state == "training" ? "" : kYellow, format::left(state, 10));
  }

  [[nodiscard]] std::string neighbour(const NeighbourProgress& n) const {
    struct Symbol {
      const char *link, *unicode, *ascii, *colour;
    };
    static constexpr Symbol kSymbols[] = {
        {"up", "●", "+", kGreen},   {"suspect", "◐", "?", kYellow},
        {"gone", "✕", "x", kRed},   {"left", "○", "o", kDim},
        {"paused", "‖", "=", kDim}, {"connecting", "◌", "~", kYellow}};
    const auto* it = std::find_if(std::begin(kSymbols), std::end(kSymbols),
                                  [&](const Symbol& s) { return n.link == s.link; });
    const bool known = it != std::end(kSymbols);
    const std::string symbol = !known ? "?" : style_.unicode ? it->unicode : it->ascii;
    std::string since;
    if (std::isfinite(n.since_sweep) && n.since_sweep >= 0) {
      since = n.since_sweep < 9.95   ? fmt::format("{:.1f}s", n.since_sweep)
              : n.since_sweep < 1000 ? fmt::format("{:.0f}s", n.since_sweep)
                                     : ">999s";
    } else {
      since = "-";
    }
    const char* const unlike = style_.unicode ? "≠" : "!";  // its grid
    return paint(known ? it->colour : kYellow, symbol) + std::to_string(n.rank) +
           (n.other_grid ? paint(kRed, unlike) : "") + " " + paint(kDim, format::left(since, 5));
  }

  [[nodiscard]] std::string row(std::size_t rank) const {
    const WorkerView& worker = workers_[rank];
    std::string name = std::to_string(rank);
    if (worker.restarts > 0) name += fmt::format(" (+{})", worker.restarts);
    std::string line = format::left(name, 7) + " ";
    const bool failed = worker.process == WorkerView::Process::kExited && worker.exit_code != 0;
    if (!worker.progress) return line + bar(0, bar_columns(), kGreen) + " " + state_of(worker);
    const WorkerProgress& p = *worker.progress;
    const std::optional<double> accuracy = p.test_accuracy ? p.test_accuracy : p.accuracy;
    line += bar(p.progress, bar_columns(), failed ? kRed : kGreen) + " " + state_of(worker);
    line += format::right(format::count(p.samples_per_second), 10) +
            format::right(format::fixed(p.loss, 4), 9) +
            format::right(accuracy ? format::percent(*accuracy, 1) : "-", 10) + "  ";
    if (worker.process == WorkerView::Process::kExited) return line;
    for (const NeighbourProgress& n : p.neighbours) line += neighbour(n) + " ";
    return line;
  }

  [[nodiscard]] std::string hidden(std::size_t first) const {
    std::size_t ended = 0;
    for (std::size_t rank = first; rank < workers_.size(); ++rank) {
      ended +=
          workers_[rank].process == WorkerView::Process::kExited && workers_[rank].exit_code != 0;
    }
    std::string line = fmt::format("... and {} more", workers_.size() - first);
    return ended > 0 ? line + fmt::format(", {} of them failed", ended) : line;
  }

  const std::vector<WorkerView>& workers_;
  const ScreenStyle& style_;
};

}  // namespace

std::vector<std::string> render_table(const std::vector<WorkerView>& workers,
                                      const ScreenStyle& style) {
  return TableRenderer(workers, style).render();
}

}  // namespace fast
