#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "fast/run/metrics.h"

namespace fast {

/// What the launcher knows about one worker. Lists of these are indexed by rank.
struct WorkerView {
  enum class Process { kStarting, kRunning, kExited };
  std::optional<WorkerProgress> progress;
  Process process = Process::kStarting;
  int exit_code = 0;  ///< once exited
  int restarts = 0;
};

struct ScreenStyle {
  bool is_terminal = false;  ///< redraw in place; else plain lines
  bool colour = false;
  bool unicode = false;
  int width = 80, height = 24;
  double plain_every = 5;  ///< seconds between plain lines
};

/// The style of standard output: a terminal or not, its size, NO_COLOR and TERM, UTF-8 from the
/// locale.
[[nodiscard]] ScreenStyle screen_style();

/// The network as a whole, from its workers' reports.
struct NetworkView {
  int running = 0, exited = 0;
  int failed = 0;                 ///< ended with an error: their share counts as being made
  double progress = 0;            ///< 0..1, mean of those that reported, as gossip tells
  double samples = 0;             ///< by all workers
  double samples_per_second = 0;  ///< of those still running
  double loss = 0;                ///< mean; NaN where it is not known
  double test_accuracy = 0;       ///< of evaluations while it trains, mean; NaN likewise
  double test_loss = 0;           ///< likewise
  double eta = -1;                ///< seconds of training left; -1 where it is not known
};

[[nodiscard]] NetworkView network_view(const std::vector<WorkerView>& workers);

/// "  test 71.3 %", "  test loss 0.4120"; "" where nothing is evaluated yet.
[[nodiscard]] std::string test_in_words(const NetworkView& view);

/// Of a view with failed workers: that the share of the run that is done counts them as going on.
[[nodiscard]] std::string counted_as_made(const NetworkView& view);

/// The lines on the screen: at most style.height - 1, none wider than style.width. Pure.
[[nodiscard]] std::vector<std::string> render_table(const std::vector<WorkerView>& workers,
                                                    const ScreenStyle& style);

/// One line about the state of the network. Pure.
[[nodiscard]] std::string render_line(double elapsed, const std::vector<WorkerView>& workers);

/// The launcher's live view. One thread; reads no clock.
class LiveTable {
 public:
  LiveTable(std::ostream& out, const ScreenStyle& style) : out_(out), style_(style) {}

  /// The terminal's size has changed.
  void resize(int width, int height);
  /// `elapsed`: seconds since the run's start. On a terminal redraws the table in place; elsewhere
  /// writes a line when `plain_every` seconds have passed since the last.
  void update(double elapsed, const std::vector<WorkerView>& workers);
  /// Prints a message that stays; on a terminal, above the table.
  void say(const std::string& text);
  /// Shows the last state, which stays on the screen (elsewhere: a last line).
  void finish(double elapsed, const std::vector<WorkerView>& workers);

 private:
  void erase();
  void draw(const std::vector<std::string>& lines);

  std::ostream& out_;
  ScreenStyle style_;
  std::vector<std::string> drawn_;
  double next_plain_ = 0;
};

}  // namespace fast
