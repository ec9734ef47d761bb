#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stencil/runtime/pump.h"

namespace stencil::test {

/// One wire between two workers; rank 1 dialled rank 0. Frames wait on it until the test delivers
/// them, so that the test decides what arrives, when, and what a break loses.
class Wire {
 public:
  Wire();
  ~Wire();

  [[nodiscard]] Transport& end(Rank rank);
  void connect();
  /// Breaks the connection: both ends notice at once, and frames in flight are lost.
  void cut();
  /// Frames in flight from `from` to the other.
  [[nodiscard]] std::size_t under_way(Rank from) const;
  bool full = false;  ///< while set, it takes no frame
  /// Delivers at most `count` of them, in order. Returns their number.
  std::size_t deliver(Rank from, std::size_t count = SIZE_MAX);
  /// Silently loses the next frame from `from`, which no correct transport does.
  void swallow(Rank from);
  /// Puts a message on the wire as if `from` had sent it, after the frames in flight.
  void inject(Rank from, const Message& message, Integrity link = Integrity::kChecksum);
  /// The rank that each end has proven: its own, unless a test sets another.
  std::optional<Rank> proven[2] = {0, 1};
  /// The next message from `from`, decoded.
  [[nodiscard]] Message front(Rank from) const;
  [[nodiscard]] Frame front_frame(Rank from) const;

 private:
  class End;
  std::unique_ptr<End> ends_[2];
  bool up_ = false;
};

/// Two workers, ranks 0 and 1 of ring:2, each with the real pump, on one Wire under the test's
/// clock.
class EnginePair {
 public:
  struct Options {
    std::size_t floats = 4;
    std::size_t bucket_floats = 2;
    CodecSpec codec{};
    std::string mode = "async";
    bool join_at_once = true;
    std::uint32_t window = 4;
    std::uint32_t retained_total = 64;
    Duration tell_every{};
    bool shareable = false;   ///< memory that other processes could map
    bool sharing = false;     ///< the two workers map each other's memory
    bool keys = false;        ///< in use: see Wire::proven
    std::size_t carried = 0;  ///< bytes that newcomers take over, in chunks of 3
  };
  explicit EnginePair(Options options);
  EnginePair() : EnginePair(Options()) {}
  ~EnginePair();

  Wire wire;
  TimePoint now{};
  Standing standing[2];

  [[nodiscard]] Pump& pump(Rank rank);
  [[nodiscard]] Mixer& mixer(Rank rank);
  [[nodiscard]] std::vector<std::string>& log(Rank rank);
  [[nodiscard]] const EngineCounters& counters(Rank rank);
  [[nodiscard]] std::size_t open_offers(Rank rank);
  /// The state that `rank` keeps of the other.
  [[nodiscard]] const Neighbour& edge(Rank rank);
  /// Starts a new life of `rank`, with its options changed by `change`.
  void restart(Rank rank, const std::function<void(EngineConfig&)>& change = {});

  void turn(Rank rank);
  /// Begins a step at `rank`: folds, earns a sweep and asks.
  void boundary(Rank rank);
  /// Delivers everything until no frame is in flight.
  void deliver_all();
  /// Advances time in ticks of 100 ms and delivers frames.
  void pass(double seconds);
  /// Connects, and exchanges all Hellos.
  void meet();

  [[nodiscard]] std::vector<float> z(Rank rank);
  /// Sum of both models, which every delta keeps once nothing is in flight.
  [[nodiscard]] double sum();
  std::vector<float> x[2];
  /// The scalars, as its training thread has them: its steps, and 1.
  [[nodiscard]] std::vector<double>& telemetry(Rank rank);
  /// What newcomers take over, as its training thread finds it.
  [[nodiscard]] std::vector<std::byte> carried(Rank rank);
  /// Of its model and of what it carries, now. Hello's is another unless a test sets it.
  [[nodiscard]] std::uint64_t start_hash(Rank rank);

 private:
  struct Side;
  void make(Rank rank, std::uint64_t generation, const std::function<void(EngineConfig&)>& change);
  Options options_;
  std::unique_ptr<Side> sides_[2];
};

}  // namespace stencil::test
