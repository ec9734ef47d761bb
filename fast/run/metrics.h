#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "stencil/runtime/exchange_options.h"

namespace fast {

/// One neighbour as a worker sees it.
struct NeighbourProgress {
  int rank = 0;
  std::string link;                ///< "connecting" | "up" | "suspect" | "gone" | "left" | "paused"
  std::uint64_t sweeps = 0;        ///< completed, begun by us
  std::uint64_t bytes = 0;         ///< sent to it, headers included
  double round_trip_ms = 0;        ///< of a bucket, decayed mean; 0 before the first
  double since_sweep = -1;         ///< seconds since the last sweep with it; -1 before the first
  bool shared = false;             ///< the model is averaged in shared memory
  std::uint64_t bytes_shared = 0;  ///< bytes of the model that we averaged there
  bool other_grid = false;         ///< it has not made the changes of the grid made here
};

/// A worker at one moment: one "progress" line of metrics.jsonl.
struct WorkerProgress {
  double time = 0;  ///< seconds since this worker's start
  std::uint64_t step = 0;
  std::uint64_t samples = 0;   ///< by this worker
  double network_samples = 0;  ///< by all workers, as gossip tells
  double progress = 0;         ///< 0..1, network-wide
  double samples_per_second = 0;
  double loss = 0;                 ///< on training batches, a decayed mean
  std::optional<double> accuracy;  ///< the same; nothing where it is not known
  double network_loss = 0;
  double learning_rate = 0;
  double consensus_distance = 0;  ///< own estimate: rms edge distance / |x|
  double exchange_seconds = 0;    ///< training-thread time inside exchange()
  double training_seconds = 0;    ///< training-thread time in all, evaluation left out
  std::string state;              ///< "joining" | "training" | "settling" | "settled" | "frozen"
  std::vector<NeighbourProgress> neighbours;
  std::optional<double> test_accuracy, test_loss;
  /// By name: what it has told the others since the last line, and the mean over all, as far as is
  /// known.
  std::map<std::string, double> said, means;
};

/// The first line: the worker and its run.
struct WorkerStart {
  int rank = 0;
  int workers = 1;
  /// `model` and `data` are empty for a session of a user's own program.
  std::string topology, mode, model, data, run_id, version;
  double unix_time = 0;
  double epochs = 0;
  std::uint64_t budget = 0;  ///< samples over all workers; 0: `epochs` of all their own data
  stencil::ExchangeOptions exchange;
  /// A life that continues from a checkpoint belongs to the run before it in the file. So does a
  /// life that began anew after one without an end or with a bad end, unless `fresh` says
  /// otherwise.
  bool resumed = false, fresh = false;
};

/// The last line; missing where a worker was killed.
struct WorkerEnd {
  double time = 0;
  int exit_code = 0;
  std::string text;                               ///< why it ended, for people
  std::map<std::string, std::uint64_t> counters;  ///< faults seen, frames, re-links, ...
};

/// Appends to metrics.jsonl, one JSON object a line, each at once. What a full disk does not take
/// is kept and written with the next line; of progress, the newest lines. A file that has grown
/// long is thinned (thinning.h): replaced, as a whole, by a shorter one. One thread. Throws
/// FileError where the file cannot be opened.
class MetricsWriter {
 public:
  explicit MetricsWriter(const std::filesystem::path& file);
  ~MetricsWriter();
  MetricsWriter(const MetricsWriter&) = delete;
  MetricsWriter& operator=(const MetricsWriter&) = delete;

  void start(const WorkerStart& start);
  void progress(const WorkerProgress& progress);
  void event(double time, const std::string& name, const std::string& text);
  void end(const WorkerEnd& end);
  /// Whether some lines could not be written yet.
  [[nodiscard]] bool behind() const { return !pending_.empty(); }

 private:
  void open();
  void add(std::string line);
  void shorten();

  std::filesystem::path file_;
  int out_ = -1;
  std::deque<std::string> pending_;  ///< lines, the first without what of it was written
  bool begun_ = false;               ///< a part of the first was
  std::size_t progress_lines_ = 0;   ///< in the file
  std::size_t most_;                 ///< of them before it is thinned
};

/// A worker's whole history as read back. Lines that do not parse (a torn last line of a killed
/// worker, for example) are counted and skipped. A restarted worker appends a new "start". `starts`
/// counts these, and times of a later life follow those of the one before, whatever lay between: no
/// wall clock counts. A start that begins another run (see WorkerStart) makes those before it an
/// older one, which is forgotten but for its number. Long ones are thinned (thinning.h).
struct WorkerHistory {
  WorkerStart start;
  std::vector<WorkerProgress> progress;
  struct Event {
    double time = 0;
    std::string event, text;  ///< a short name, and a description for people
  };
  std::vector<Event> events;
  std::optional<WorkerEnd> end;
  /// Counters (samples, seconds, sweeps, bytes) begin at 0 in each life.
  struct Life {
    double time = 0;                 ///< time of its start, on the history's time axis
    std::size_t first_progress = 0;  ///< index into `progress`; may be its size
    /// The life before it ended as it was meant to, well or on request, and somebody has resumed
    /// the run; else it came to a bad end, and was started again.
    bool resumed = false;
  };
  std::vector<Life> lives;
  int starts = 0;
  /// Lives that follow one that came to a bad end.
  [[nodiscard]] int restarts() const {
    return std::max(0,
                    starts - 1 - static_cast<int>(std::ranges::count(lives, true, &Life::resumed)));
  }
  int older_runs = 0;
  int unreadable_lines = 0;
};

/// One line of metrics.jsonl; times are not shifted.
using MetricsLine = std::variant<WorkerStart, WorkerProgress, WorkerHistory::Event, WorkerEnd>;

/// Returns nothing where the line is not a metrics line: not JSON, another kind, or a field of a
/// wrong type.
[[nodiscard]] std::optional<MetricsLine> parse_metrics_line(std::string_view line);

/// The body of a metrics.jsonl, which may come from another machine. Never throws for content:
/// `starts` is 0 where there is no "start" line.
[[nodiscard]] WorkerHistory parse_metrics(std::string_view text);

/// Throws FileError where there is no such file or no "start" line.
[[nodiscard]] WorkerHistory read_metrics(const std::filesystem::path& file);

}  // namespace fast
