#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/compare/condition.h"

namespace fast::compare {

/// Which time a cell's seconds are.
enum class TimeKind {
  kReal,     ///< real processes on this machine, its clock
  kVirtual,  ///< real gradients, but a modelled clock: each worker on a core of its own
  kStandIn,  ///< real processes and links, but steps that wait instead of computing: no accuracy
};

/// What a strategy trains: the same for all strategies of a comparison.
struct Job {
  std::string model = "resnet8";
  std::string data = "synthetic";  ///< "cifar10" is found by --cifar10 DIR
  std::size_t examples = 0;        ///< use so many training examples; 0: all
  std::size_t validation = 0;      ///< of them, how many are held out
  /// So many beyond `examples`, which no curve and no tuning looks at, judge the mean model at the
  /// end as the test set does: chance in what is judged shrinks by as many. Virtual time only. Not
  /// of what determines a cell: what is learned does not know.
  std::size_t unseen = 0;
  double epochs = 5;  ///< of what is left, by all workers together
  int batch = 32;
  std::string optimizer = "sgd";
  double momentum = 0.9, weight_decay = 5e-4;
  bool nesterov = true;
  std::string schedule = "cosine";
  double warmup = 0.15;
};

[[nodiscard]] std::string_view name(TimeKind kind);
[[nodiscard]] std::optional<TimeKind> parse_time_kind(std::string_view text);

struct Strategy {
  std::string name = "stencil-async";
  double learning_rate = 0.1;
  double sweeps = 1;          ///< of a strategy that begins some
  bool usual_sweeps = false;  ///< they are what the topology asks for; says nothing of its own
  /// Usual ones by topology, where they are not today's; likewise.
  std::map<std::string, double> sweeps_before{};
  /// Neighbours meet in turns (stencil::Turns), as they do today wherever buckets are exchanged;
  /// false: what was made before they did, and can only be shown.
  bool turns = false;
  double linger = 0;
  double phase_lock = 0;
  bool overlap = false;
  std::string codec = "fp32";
  int bucket_kib = 0;             ///< 0: what suits the model; all-reduce: as DDP has them, in
                                  ///< virtual time none, see RoundClock
  std::string buffers = "local";  ///< BatchNorm's statistics in the end: "mix" | "local"
  double momentum_correction = 0;

  /// --mode of its workers where the product exchanges for it; "" for the others.
  [[nodiscard]] std::string mode() const;
  /// Does the size of buckets change what it learns?
  [[nodiscard]] bool by_buckets() const { return !mode().empty() && mode() != "sync"; }
  [[nodiscard]] bool knows_buckets() const { return by_buckets() || name == "allreduce"; }
  [[nodiscard]] bool mixes_statistics() const { return buffers == "mix"; }
};

/// Measured facts; not used in real time. A stand-in needs only how long a step lasts.
struct Clockwork {
  double step_seconds = 0;  ///< of one local step on a core of its own
  double latency = 0;       ///< of a message, one way
  double rate_mbit = 8000;  ///< of a link where the condition sets none
};

/// One training run: everything that determines its result, and nothing else. Value type.
struct Cell {
  Job job;
  Condition condition;
  Strategy strategy;
  std::uint64_t seed = 1;
  TimeKind time = TimeKind::kReal;
  Clockwork clockwork;
  bool tuning = false;  ///< judged on the held-out examples; the test set stays unread

  [[nodiscard]] int workers() const;
  /// Samples over all workers, given how many training examples there are.
  [[nodiscard]] std::uint64_t budget(std::size_t examples) const;
};

/// The mean model at one moment, judged on held-out examples.
struct CurvePoint {
  double samples = 0;  ///< over all workers
  double seconds = 0;  ///< since training began
  double bytes = 0;    ///< sent, over all workers
  double accuracy = 0, loss = 0;
  double consensus = 0;  ///< rms over workers of |x_i - mean| / |mean|
};

/// The mean model in the end, judged on Job::unseen.
struct Unseen {
  std::size_t examples = 0;
  double accuracy = 0, loss = 0;
};

struct CellResult {
  bool diverged = false;             ///< a loss or a parameter became non-finite
  std::string failure;               ///< why it did not end well; empty where it did
  int lost = 0;                      ///< workers that died, where the others ended well
  std::vector<CurvePoint> curve;     ///< over the held-out examples
  std::optional<double> mean_model;  ///< accuracy at the end; see Cell::tuning
  std::optional<Unseen> unseen;
  std::vector<double> workers;  ///< of each worker's own model
  double consensus = 0;
  double samples = 0;           ///< made by all workers
  double training_seconds = 0;  ///< of the cell's kind of time
  double bytes = 0;             ///< sent by all workers
  double model_bytes = 0;       ///< of the parameters that are exchanged
  double steps_per_second = 0;  ///< of the fastest worker
  double wall_seconds = 0;      ///< what making this result took, evaluation included
  std::string machine, version;
};

/// Canonical JSON of what determines the cell; its hash names the file of its result.
[[nodiscard]] std::string to_json(const Cell& cell);
[[nodiscard]] std::string hash(const Cell& cell);
/// "stencil-async torus:2x2 uniform, seed 1".
[[nodiscard]] std::string title(const Cell& cell);

/// Finished cells, one small JSON file each, named by strategy, seed and hash. A file that does not
/// hold exactly this cell (a collision, an edited file) counts as none, and so does one whose
/// result does not tell of as many unseen examples as the cell asks for.
class CellStore {
 public:
  explicit CellStore(std::filesystem::path folder) : folder_(std::move(folder)) {}
  [[nodiscard]] std::optional<CellResult> find(const Cell& cell) const;
  /// The same, or else that of a cell which differs by its clockwork alone: for what learns the
  /// same by any clock.
  /// The first by name, where several do.
  [[nodiscard]] std::optional<CellResult> find_by_any_clock(const Cell& cell) const;
  void keep(const Cell& cell, const CellResult& result) const;
  [[nodiscard]] std::filesystem::path file(const Cell& cell) const {
    return folder_ / file_name(cell);
  }
  [[nodiscard]] static std::string file_name(const Cell& cell);

 private:
  /// "STRATEGY-seedN-", what names of files begin with.
  [[nodiscard]] static std::string stem(const Cell& cell);
  std::filesystem::path folder_;
};

/// A cell as one process hands it to another.
[[nodiscard]] Cell cell_from_json(const std::string& text);

}  // namespace fast::compare
