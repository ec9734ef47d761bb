#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "stencil/core/grid.h"
#include "stencil/core/layout.h"
#include "stencil/core/mode.h"
#include "stencil/runtime/exchange_options.h"
#include "stencil/runtime/pump.h"
#include "stencil/sim/agenda.h"
#include "stencil/sim/network.h"
#include "stencil/sim/objective.h"

namespace stencil::sim {

/// A time during which a worker stands still, as by SIGSTOP: it neither computes nor hears, and
/// what is sent to it waits.
struct Freeze {
  Rank rank = kNoRank;
  double from = 0, to = 0;  ///< seconds
};

/// How a worker ends without a word.
enum class Death {
  kMachine,  ///< it falls silent; its connections stand
  kProcess,  ///< its connections break at once
};

/// What a worker resumes from.
struct Saved {
  std::vector<float> x;
  std::vector<double> telemetry;
};

struct SimulationConfig {
  Topology topology = Topology::parse("torus:2x2");
  ExchangeOptions exchange;
  std::size_t bucket_floats = 0;  ///< size of a bucket; 0: as `exchange` says
  std::uint64_t seed = 1;

  double step_seconds = 0.1;    ///< of a worker of speed 1
  double step_jitter = 0;       ///< each step takes up to this share longer, at random
  std::map<Rank, double> slow;  ///< rank -> factor by which its steps are stretched
  std::uint64_t steps = 100;    ///< per worker of speed 1: the run lasts steps * step_seconds
  LinkModel link;
  double worker_bandwidth = 0;  ///< bytes a second that a worker can send in all; 0: unlimited
  std::map<std::pair<Rank, Rank>, LinkModel> links;  ///< exceptions, smaller rank first
  std::map<Rank, std::string> rates;                 ///< exceptions to `exchange.max_rate`
  std::vector<Outage> outages;
  std::vector<Freeze> freezes;
  std::set<std::pair<Rank, Rank>> shared;  ///< (asker, asked): in shared memory, without delay
  /// The forward pass of a step asks for the model part by part; see ExchangeOptions::by_layer.
  bool asks_for_parts = false;
  bool finish = false;  ///< after the run, settle and freeze as real workers do
  /// Whoever is far behind a neighbour that comes into reach takes over its model, as real workers
  /// do; the mean over all is another one then.
  bool adopt = true;
  /// Workers wait for their neighbours before their first step, as real workers do.
  bool meet = false;
  /// Their greetings tell the hash of their initial weights, as those of real workers do, and they
  /// wait for `start_deadline` at most (0: for ever). With `meet`.
  bool hashed = false;
  /// Sees the engine of a worker, and of each life of it anew; null: nobody does.
  std::function<Witness*(Rank)> witness = [](Rank) { return nullptr; };
};

/// The network at one moment.
struct Snapshot {
  double time = 0;                ///< virtual seconds
  double objective = 0;           ///< at the mean over workers
  double consensus_distance = 0;  ///< rms over workers of |x_i - mean| / |mean|
  double disagreement = 0;        ///< sum of |z_i - mean|^2, deltas in flight counted
  double mean_drift = 0;          ///< |mean - initial mean| / |initial mean|, in flight counted
  std::uint64_t steps = 0, sweeps = 0, bytes = 0;
};

/// N workers in one thread under a virtual clock. Each runs the same pump as a real worker.
/// Deterministic: the same configuration and seed give the same bytes on every run.
class Simulation {
 public:
  /// `objective` must outlive it.
  Simulation(SimulationConfig config, Objective& objective);
  ~Simulation();

  /// Advances virtual time to `seconds`.
  void run_until(double seconds);
  /// Ends training, then settles, freezes and folds as at the end of a run. Returns true when every
  /// worker froze because all were settled, not because time was up.
  bool finish();

  [[nodiscard]] Snapshot snapshot() const;
  [[nodiscard]] double end_time() const;
  /// Workers so far; ranks are below this.
  [[nodiscard]] int size() const { return static_cast<int>(workers_.size()); }
  /// The present model; of a step in progress, the part that has been folded.
  [[nodiscard]] std::span<const float> model(Rank rank) const;
  [[nodiscard]] PumpStatus status(Rank rank) const;
  /// Step boundaries that `rank` has passed.
  [[nodiscard]] std::uint64_t steps_of(Rank rank) const;
  /// The worker's telemetry scalars; [0] counts its own steps, [1] is 1 at each worker.
  [[nodiscard]] std::span<const double> telemetry(Rank rank) const;
  /// The same as the network sees them now, deltas since the last boundary included.
  [[nodiscard]] std::vector<double> telemetry_z(Rank rank) const;
  /// Bytes sent by all workers so far, headers included.
  [[nodiscard]] std::uint64_t bytes_sent() const;
  /// The mean of z() over all workers, dead ones included.
  [[nodiscard]] std::vector<double> mean() const;
  /// The z that a worker would have if every delta in flight had arrived. The exchange keeps the
  /// sum of these constant.
  [[nodiscard]] std::vector<double> z(Rank rank) const;

  // The grid changes while it runs. Not in mode sync.
  /// Adds a worker with these neighbours, and tells them. Returns its rank.
  Rank add(const std::vector<Rank>& neighbours);
  /// Removes a worker. It and its neighbours stop exchanging, complete what is in flight and forget
  /// each other; it goes on training alone.
  void remove(Rank rank);

  /// Kills a worker now: it sends nothing any more.
  void kill(Rank rank, Death how = Death::kMachine);
  [[nodiscard]] bool alive(Rank rank) const;
  /// What a checkpoint of the worker's last boundary holds.
  [[nodiscard]] Saved save(Rank rank) const;
  /// Starts a killed worker anew, as a new generation: from initial weights, or from `saved`.
  void restart(Rank rank, const Saved* saved = nullptr);

 private:
  struct Worker;
  [[nodiscard]] double settle_threshold() const;
  [[nodiscard]] const std::string& max_rate(Rank rank) const;
  void make(Rank rank, std::uint64_t generation, const Saved* saved = nullptr);
  [[nodiscard]] EngineConfig engine_config(Rank rank, std::uint32_t buckets) const;
  /// All workers follow the grid as it is now.
  void follow_grid();
  void turn(Worker& worker);
  void proceed(Worker& worker);
  [[nodiscard]] bool overlaps() const;
  void begin_step(Worker& worker);
  void take_part_in(Worker& worker);
  void compute(Worker& worker, double share);
  void make_part(Worker& worker);
  void account(std::vector<std::vector<double>>& z) const;
  void thaw(Worker& worker);
  void settle(Worker& worker);
  void take(const Due& due);

  SimulationConfig config_;
  Mode mode_;
  Objective& objective_;
  Grid grid_{config_.topology};
  Layout layout_;
  TimePoint now_{};
  std::unique_ptr<Network> network_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<double> initial_mean_;
  Agenda agenda_;
};

}  // namespace stencil::sim
