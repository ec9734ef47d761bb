#include "stencil/sim/simulator.h"

#include <xxhash.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "stencil/core/data_rate.h"
#include "stencil/runtime/engine_config.h"
#include "stencil/sim/simulated_worker.h"

namespace stencil::sim {
namespace {

/// With `overlap`: parts of a step, over the share of it that is the backward pass.
constexpr std::uint64_t kParts = 8;
constexpr double kForwardShare = 1.0 / 3;

std::size_t bucket_floats(const SimulationConfig& config) {
  if (config.bucket_floats > 0) return config.bucket_floats;
  return static_cast<std::size_t>(config.exchange.bucket_kib) * 1024 / sizeof(float);
}

}  // namespace

Simulation::Simulation(SimulationConfig config, Objective& objective)
    : config_(std::move(config)),
      mode_(Mode::parse(config_.exchange.mode)),
      objective_(objective),
      layout_(Layout::flat(objective.dimension(), bucket_floats(config_))),
      initial_mean_(objective.dimension()) {
  const auto model = [this](Rank a, Rank b) {
    const auto it = config_.links.find(std::minmax(a, b));
    return it == config_.links.end() ? config_.link : it->second;
  };
  const int workers = grid_.size();
  network_ = std::make_unique<Network>(workers, model, config_.outages, config_.seed,
                                       config_.worker_bandwidth);
  workers_.resize(static_cast<std::size_t>(workers));
  for (const Freeze& freeze : config_.freezes) {
    agenda_.add(TimePoint(seconds(freeze.from)), freeze.rank, What::kFreeze);
    agenda_.add(TimePoint(seconds(freeze.to)), freeze.rank, What::kThaw);
  }
  for (Rank rank = 0; rank < workers; ++rank) {
    make(rank, 1);
    for (std::size_t i = 0; i < initial_mean_.size(); ++i) {
      initial_mean_[i] += workers_[rank]->x[i] / static_cast<double>(size());
    }
  }
}

Simulation::~Simulation() = default;

double Simulation::settle_threshold() const {
  const double target = config_.exchange.settle_target;
  // lambda2 of a large graph takes seconds, and only the end of a run needs it.
  return config_.finish ? grid_.settle_threshold(target) : target;
}

double Simulation::end_time() const {
  return static_cast<double>(config_.steps) * config_.step_seconds;
}

const std::string& Simulation::max_rate(Rank rank) const {
  const auto own = config_.rates.find(rank);
  return own == config_.rates.end() ? config_.exchange.max_rate : own->second;
}

EngineConfig Simulation::engine_config(Rank rank, std::uint32_t buckets) const {
  EngineConfig engine = make_engine_config(config_.exchange, grid_, rank, buckets);
  if (!config_.adopt) {
    engine.behind_share = 0;
    engine.missed_steps = std::numeric_limits<double>::infinity();
  }
  return engine;
}

void Simulation::make(Rank rank, std::uint64_t generation, const Saved* saved) {
  auto worker = std::make_unique<Worker>();
  worker->rank = rank;
  worker->generation = generation;
  worker->made = now_;
  worker->random = Random(Random::derive(config_.seed, 0x776f726bULL + rank));
  worker->x.resize(layout_.size());
  objective_.initial(rank, worker->x);
  worker->telemetry = {0.0, 1.0};
  if (saved != nullptr) {
    worker->x = saved->x;
    worker->telemetry = saved->telemetry;
  }
  const auto reach = config_.shared.empty() ? Segment::Reach::kOwn : Segment::Reach::kShared;
  worker->mixer =
      std::make_unique<Mixer>(layout_, worker->x, worker->telemetry, Segment(layout_, rank, reach));
  if (Followers* const followers = objective_.followers(rank)) worker->mixer->follow(*followers);
  PumpOptions options{
      .engine = engine_config(rank, worker->mixer->bucket_count()),
      .settle_threshold = settle_threshold(),
      .max_rate = parse_rate(max_rate(rank)).value_or(0),
      .data_cap = DataCap(parse_allowance(config_.exchange.data_cap).value_or(DataAllowance{})),
      .witness = config_.witness(rank)};
  EngineConfig& engine = options.engine;
  worker->mixer->bound_scalars({engine.most_progress, engine.most_progress});
  worker->boundary.emplace(*worker->mixer, config_.exchange, engine.self_weight(),
                           [this] { return now_; });
  // Unless they meet first, all workers begin together with the weights that they have; only a
  // restarted worker copies a neighbour.
  worker->boundary->standing().stop_joining = generation == 1 && !config_.meet;
  engine.seed = config_.seed;
  engine.trained = saved != nullptr;
  engine.hello.run_id = "simulation";
  engine.hello.topology = config_.topology.spec();
  // Generations differ by more than restarts of edges add to them.
  engine.hello.generation = generation << 16;
  engine.hello.life = {generation, static_cast<std::uint64_t>(rank) + 1};
  engine.hello.layout_hash = layout_.hash();
  if (config_.hashed) engine.hello.initial_hash = XXH64(worker->x.data(), 4 * worker->x.size(), 0);
  if (!config_.shared.empty()) {
    worker->meeting = std::make_unique<DirectMeeting>(layout_, [this, rank](Rank to) {
      return config_.shared.contains({rank, to}) ? &workers_[to]->mixer->segment() : nullptr;
    });
    engine.hello.meeting = worker->meeting->token();
  }
  // The higher rank dials: one connection per edge from the start.
  const Resolver resolver = [rank](Rank to) -> std::vector<PeerAddress> {
    if (to > rank) return {};
    return {Network::endpoint(to)};
  };
  worker->pump = std::make_unique<Pump>(
      options, *worker->mixer, network_->transport(rank), resolver,
      [](LogLevel, std::string_view) {}, now_, worker->meeting.get());
  workers_[rank] = std::move(worker);
  Worker& made = *workers_[rank];
  turn(made);
  made.boundary->standing().stop_joining = false;
  proceed(made);
}

bool Simulation::overlaps() const {
  return config_.exchange.overlap && mode_.kind == Mode::Kind::kAsync;
}

void Simulation::begin_step(Worker& worker) {
  const auto it = config_.slow.find(worker.rank);
  const double factor = it == config_.slow.end() ? 1 : it->second;
  const double stretch = 1 + config_.step_jitter * worker.random.uniform();
  worker.stepping = true;
  worker.parts = 0;
  worker.length = config_.step_seconds * factor * stretch;
  if (!config_.asks_for_parts) return compute(worker, 0);
  worker.taken_in = 0;
  take_part_in(worker);
}

/// The step goes on without anything to take in. `share` of it is over.
void Simulation::compute(Worker& worker, double share) {
  worker.taken_in = kParts;
  for (std::uint64_t part = overlaps() ? 1 : kParts; part <= kParts; ++part) {
    const double left = (1 - kForwardShare) * static_cast<double>(kParts - part) / kParts;
    agenda_.add(now_ + seconds(worker.length * (1 - share - left)), worker.rank, What::kStep);
  }
}

/// The forward pass comes to its next part, and goes on once that may be used.
void Simulation::take_part_in(Worker& worker) {
  const std::size_t begin = layout_.size() * worker.taken_in / kParts;
  const std::size_t count = layout_.size() * (worker.taken_in + 1) / kParts - begin;
  worker.awaits_part = !worker.boundary->has_come(begin, count);
  if (worker.awaits_part) return;
  if (worker.boundary->take_in(worker.x, begin, count)) turn(worker);
  if (worker.taken_in == kParts - 1) return compute(worker, kForwardShare * (1 - 1.0 / kParts));
  ++worker.taken_in;
  agenda_.add(now_ + seconds(worker.length * kForwardShare / kParts), worker.rank, What::kStep);
}

/// Takes one part of a local step, the last values first; the step ends with the last part. The
/// gradient was computed on the model at the beginning of the step: meanwhile only folds change x.
void Simulation::make_part(Worker& worker) {
  if (worker.parts++ == 0) {
    worker.next = worker.x;
    worker.taken = worker.x.size();
    objective_.step(worker.rank, worker.next);
  }
  if (overlaps() && worker.parts < kParts) {
    const std::size_t first = layout_.size() * (kParts - worker.parts) / kParts;
    // Only whole buckets, which are folded.
    const std::size_t bucket = layout_.bucket_floats();
    worker.take(std::min(worker.taken, (first + bucket - 1) / bucket * bucket));
    if (worker.boundary->made_from(worker.x, first)) turn(worker);
    return;
  }
  worker.take(0);
  worker.stepping = false;
  worker.boundary->reach();
  proceed(worker);
}

void Simulation::turn(Worker& worker) {
  const double deadline = config_.exchange.start_deadline;
  const bool patient = deadline == 0 || now_ - worker.made < seconds(deadline);
  if (config_.hashed && !patient) worker.boundary->standing().stop_joining = true;
  Pauses& pauses = worker.boundary->pauses();
  Standing standing = worker.boundary->standing();
  standing.pause = pauses.present(now_, standing.pause);
  TimePoint next = worker.pump->turn(now_, standing);
  pauses.note(now_, worker.pump->engine());
  if (pauses.until() > now_) next = std::min(next, pauses.until());
  if (next != kNever && next != worker.next_turn) {
    worker.next_turn = std::max(next, now_ + Duration(1));
    agenda_.add(worker.next_turn, worker.rank, What::kTurn);
  }
}

/// Called where a step is complete, or where what the worker waits for may have come: takes it
/// through its boundary as far as that goes, and into the next step.
void Simulation::proceed(Worker& worker) {
  if (worker.alive && worker.awaits_part) return take_part_in(worker);
  if (!worker.alive || worker.stepping) return;
  if (worker.pump->engine().state() == WorkerState::kJoining) return;
  StepBoundary& boundary = *worker.boundary;
  while (true) {
    const PumpStatus& status = worker.pump->status();
    const StepBoundary::Phase phase = boundary.phase();
    if (!boundary.over(status)) return;
    const bool training = boundary.standing().wanted == WorkerState::kTraining;
    if (!training && phase != StepBoundary::Phase::kPause) return;
    if (boundary.adopts(status)) {
      boundary.take_over(status, worker.x, worker.telemetry);
      objective_.model_replaced(worker.rank);
    } else {
      if (phase == StepBoundary::Phase::kEntry) worker.telemetry[0] += 1;
      (void)boundary.advance(worker.x, worker.telemetry);
    }
    if (boundary.passed()) return begin_step(worker);
    const bool last = boundary.standing().step == config_.steps;
    if (last && mode_.kind == Mode::Kind::kSync) {
      boundary.standing().wanted = WorkerState::kFrozen;
    }
    turn(worker);
  }
}

void Simulation::take(const Due& due) {
  Worker& worker = *workers_[due.rank];
  if (due.what == What::kFreeze) {
    if (!std::exchange(worker.still, true)) worker.still_since = now_;
    return;
  }
  if (due.what == What::kThaw) return thaw(worker);
  if (worker.still) {
    if (due.what == What::kStep) worker.owed.push_back(due.when);
  } else if (due.what == What::kStep) {
    if (worker.boundary->standing().wanted == WorkerState::kTraining) {
      worker.taken_in < kParts ? take_part_in(worker) : make_part(worker);
    } else {
      worker.stepping = false;
    }
  } else if (worker.next_turn == due.when) {
    worker.next_turn = kNever;
    turn(worker);
    proceed(worker);
  }
}

void Simulation::run_until(double until) {
  const TimePoint end(seconds(until));
  std::vector<Rank> woken;
  while (true) {
    const TimePoint next = std::min(network_->next(), agenda_.next());
    if (next > end) break;
    now_ = std::max(now_, next);
    woken.clear();
    network_->deliver(now_, woken);
    for (const Rank rank : woken) {
      Worker& worker = *workers_[rank];
      if (!worker.alive || worker.still) continue;
      turn(worker);
      proceed(worker);
    }
    while (const std::optional<Due> due = agenda_.take(now_)) {
      if (workers_[due->rank]->alive) take(*due);
    }
  }
  now_ = std::max(now_, end);
}

void Simulation::settle(Worker& worker) {
  worker.boundary->standing().wanted = WorkerState::kSettling;
  // Completes a step whose gradient is already there.
  if (worker.stepping && worker.parts > 0) worker.take(0);
  objective_.last(worker.rank, worker.x);
  (void)worker.mixer->fold(worker.x);
  turn(worker);
}

bool Simulation::finish() {
  if (mode_.kind == Mode::Kind::kSync) {
    const double begun = std::chrono::duration<double>(now_.time_since_epoch()).count();
    run_until(begun + config_.exchange.settle_deadline);
    return std::ranges::all_of(workers_, [&](const auto& worker) {
      return worker->boundary->standing().step == config_.steps;
    });
  }
  for (auto& worker : workers_) {
    if (worker->alive && !worker->still) settle(*worker);
  }
  const double deadline = std::chrono::duration<double>(now_.time_since_epoch()).count() +
                          config_.exchange.settle_deadline;
  double time = deadline - config_.exchange.settle_deadline;
  bool all = false;
  while (!all && time < deadline) {
    time += config_.step_seconds / 4;
    run_until(time);
    all = true;
    for (auto& worker : workers_) {
      if (!worker->alive || worker->frozen) continue;
      if (!worker->still && worker->boundary->standing().wanted == WorkerState::kTraining) {
        settle(*worker);
      }
      if (worker->still || !worker->pump->status().may_freeze) {
        all = false;
        continue;
      }
      worker->frozen = true;
      worker->boundary->standing().wanted = WorkerState::kFrozen;
      turn(*worker);
    }
  }
  run_until(time + 4 * config_.step_seconds);
  for (auto& worker : workers_) {
    if (worker->alive) (void)worker->mixer->fold(worker->x);
  }
  return all;
}

std::span<const float> Simulation::model(Rank rank) const {
  return workers_[rank]->x;
}
std::span<const double> Simulation::telemetry(Rank rank) const {
  return workers_[rank]->telemetry;
}
std::vector<double> Simulation::telemetry_z(Rank rank) const {
  std::vector<double> z(workers_[rank]->telemetry.size());
  workers_[rank]->mixer->read_telemetry_z(z);
  return z;
}
std::uint64_t Simulation::bytes_sent() const {
  std::uint64_t sum = 0;
  for (Rank rank = 0; rank < size(); ++rank) {
    sum += network_->transport(rank).stats().bytes_sent;
  }
  return sum;
}
std::uint64_t Simulation::steps_of(Rank rank) const {
  return workers_[rank]->pump->engine().step();
}
PumpStatus Simulation::status(Rank rank) const {
  return workers_[rank]->pump->status();
}

}  // namespace stencil::sim
