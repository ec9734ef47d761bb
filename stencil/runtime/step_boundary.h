#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "stencil/codec/codec.h"
#include "stencil/core/layout.h"
#include "stencil/core/mode.h"
#include "stencil/mix/mixer.h"
#include "stencil/runtime/exchange_options.h"
#include "stencil/runtime/made_parts.h"
#include "stencil/runtime/pauses.h"
#include "stencil/runtime/pump_status.h"

namespace stencil {

/// The step boundaries of one worker, in every mode: what its training thread does at them, in
/// which order, and what it waits for. Sessions and the simulator pass them alike:
///
///     reach()                  the step is complete
///     until passed():
///       wait for over()        a session sleeps, the simulator lets virtual time pass
///       advance()
///       tell                   hand standing() to Pump::turn(); not any more once passed()
///     lend()                   sessions: what comes meanwhile is folded by the background thread
///     take_in()                before the next step uses a part of the model: what has come
///     made_from()              while the next step is computed part by part: fold, then tell
///
/// A boundary goes through these phases (the first has kBegin instead of all of them):
///
///     kEntry    bounded: neighbours that are too far behind. sync: those that lack the last round
///               advance(): the model is folded and shown; sync: published
///     kPause    async, bounded: what Pauses decides
///     kRound    sync: the models of this round; advance() takes their average
///     kLeave    nothing, but the end is told first; advance() folds what the pause has brought
///
/// Where a step has asked for its parts by take_in(), the boundary that follows does not wait for
/// sweeps, nor folds what they bring: each part does so by itself, just before the next step uses
/// it, and what the sweeps still bring meanwhile has the computing of the parts before it for its
/// time (as parameters are sent by need in Jayarajan et al. 2019, "Priority-based parameter
/// propagation for distributed DNN training").
///
/// Where a neighbour's model was adopted (adopts()), the step in progress was of another model:
/// take_over() then comes instead of advance(), in phase kBegin or kEntry.
///
/// Training thread. Nothing here waits; a lock is held for one pass over a bucket (see Mixer).
class StepBoundary {
 public:
  /// What it waits for, or kStep: the next step is computed.
  enum class Phase : std::uint8_t { kBegin, kEntry, kPause, kRound, kLeave, kStep };

  /// `mixer` must outlive this. `self_weight`: see EngineConfig. `clock` gives the time at which an
  /// operation ends, since passes over a large model take their time.
  StepBoundary(Mixer& mixer, const ExchangeOptions& options, double self_weight,
               std::function<TimePoint()> clock);

  /// The step is complete in all of the model; its boundary begins.
  void reach();
  [[nodiscard]] Phase phase() const { return phase_; }
  /// The boundary is over.
  [[nodiscard]] bool passed() const { return phase_ == Phase::kStep; }
  /// Whether what the present phase waits for has come.
  [[nodiscard]] bool over(const PumpStatus& status) const;
  /// Ends the present phase, which is over(), and begins the next one. `x` is the model and
  /// `scalars` the telemetry, whose own changes are all made (see Mixer::fold_telemetry()). Returns
  /// false where a parameter of the worker's own is NaN or infinite; in mode sync nothing is
  /// published then, and the boundary is passed.
  [[nodiscard]] bool advance(std::span<float> x, std::span<double> scalars);

  /// Whether a neighbour's model was adopted that x is to take over now. Once a step is shown, only
  /// the next boundary takes it over.
  [[nodiscard]] bool adopts(const PumpStatus& status) const {
    return status.adopted != adopted_ && !shown();
  }
  /// Drops the step in progress, sets `x` to the adopted model, which no follower follows, and
  /// passes the boundary.
  void take_over(const PumpStatus& status, std::span<float> x, std::span<double> scalars);
  /// Models taken over so far.
  [[nodiscard]] std::uint64_t adopted() const { return adopted_; }

  /// The next step is about to use `count` values from `first` on, and has not used them yet since
  /// the last boundary. Whether what sweeps are bringing for these has come, as far as it is waited
  /// for. Modes async and bounded.
  [[nodiscard]] bool has_come(std::size_t first, std::size_t count) const;
  /// Takes it in: folds whole buckets, each once in a step. Returns true where the caller must tell
  /// standing().
  bool take_in(std::span<float> x, std::size_t first, std::size_t count);
  /// The part of x that take_in() would go over; of size 0 where there is none.
  [[nodiscard]] BucketRange would_be_taken(std::size_t first, std::size_t count) const;

  /// The step that comes next is begun, and nothing else is done to `x` before it: where the step
  /// before it asked for a part, the background thread has the part until take_in() asks for it
  /// again, and folds what comes (Mixer::fold_lent()), so that take_in() finds that done.
  void lend(std::span<float> x);
  /// All of x is the training thread's again, asked for or not.
  void take_back() { mixer_.take_back(0, mixer_.telemetry_bucket()); }

  /// All of `x` from `first` on holds the step in progress and does not change before reach().
  /// Returns true where the caller must tell standing(). Values that are not finite are found at
  /// the boundary, and locked buckets are folded there. Mode async.
  bool made_from(std::span<float> x, std::size_t first);
  /// The part of x that made_from() would fold; of size 0 where it would do nothing.
  [[nodiscard]] BucketRange would_be_made(std::size_t first) const;

  /// The number of the step whose boundary comes next, or is passed now and not shown yet.
  [[nodiscard]] std::uint64_t next() const { return standing_.step + 1; }
  /// The state of the training thread. The caller sets here what it wants from the background work.
  [[nodiscard]] Standing& standing() { return standing_; }
  [[nodiscard]] const Standing& standing() const { return standing_; }
  /// Whoever calls Pump::turn() lets it note() what the engine knows then.
  [[nodiscard]] Pauses& pauses() { return pauses_; }
  [[nodiscard]] const Pauses& pauses() const { return pauses_; }

 private:
  [[nodiscard]] bool sync() const { return pulled_ != nullptr; }
  [[nodiscard]] bool shown() const {
    return phase_ == Phase::kPause || phase_ == Phase::kRound || phase_ == Phase::kLeave;
  }
  bool begin(std::span<float> x, std::span<double> scalars);
  bool show(std::span<float> x, std::span<double> scalars);
  bool publish(std::span<const float> x, std::span<const double> scalars);
  bool leave(std::span<float> x, std::span<double> scalars);
  void collect(std::span<float> x, std::span<double> scalars);
  void pause(Pause pause);
  /// Whether most parts of the model were asked for in the step that is complete.
  bool asked_for_parts();
  /// No part of the step in progress is asked for any more.
  void end_parts();

  struct Buckets {
    std::uint32_t from = 0, to = 0;  ///< `to` is past the last
  };
  /// Those with any of these values that are not taken in.
  [[nodiscard]] Buckets untaken(std::size_t first, std::size_t count) const;

  Mixer& mixer_;
  std::unique_ptr<const Codec> pulled_;  ///< how whole models travel in lock step; else null
  double self_weight_;
  std::function<TimePoint()> clock_;
  Pauses pauses_;  ///< any thread
  MadeParts made_;
  Standing standing_;
  Phase phase_ = Phase::kBegin;
  std::uint64_t adopted_ = 0;
  bool made_finite_ = true;          ///< all parts of the step in progress that are folded
  bool paused_ = false;              ///< at the present boundary
  const bool by_layer_;              ///< see ExchangeOptions
  bool by_parts_ = false;            ///< the step before it has asked for its parts
  const bool fold_ahead_;            ///< likewise
  std::vector<std::uint8_t> taken_;  ///< by bucket: taken in for the step in progress
  std::vector<std::uint8_t> asked_;  ///< by bucket: taken in for the step before it
};

}  // namespace stencil
