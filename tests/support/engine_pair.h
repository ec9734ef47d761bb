#pragma once

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stencil/runtime/pump.h"

namespace stencil::test {

/// One wire between two workers, rank 1 having dialled rank 0. Frames wait on it until the test
/// passes them on, so that it decides what arrives, when, and what a break loses.
class Wire {
 public:
  Wire();
  ~Wire();

  [[nodiscard]] Transport& end(Rank rank);
  void connect();
  /// Both ends notice at once; what was under way is lost.
  void cut();
  /// Frames under way from `rank` to the other.
  [[nodiscard]] std::size_t under_way(Rank from) const;
  /// Passes on at most `count` of them, in order. How many it were.
  std::size_t deliver(Rank from, std::size_t count = SIZE_MAX);
  /// Loses the next frame from `rank` in silence, as no honest transport does.
  void swallow(Rank from);
  /// Puts a message on the wire as if `from` had sent it, behind what is under way.
  void inject(Rank from, const Message& message);
  /// What waits at the front, decoded.
  [[nodiscard]] Message front(Rank from) const;

 private:
  class End;
  std::unique_ptr<End> ends_[2];
  bool up_ = false;
};

/// Two workers, ranks 0 and 1 of ring:2, each the real pump, on one Wire under a clock of the test.
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
    bool shareable = false;  ///< memory that other processes could map
    bool sharing = false;    ///< and that the two of them do
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
  /// What `rank` keeps of the other.
  [[nodiscard]] const Neighbour& edge(Rank rank);
  /// A new life of `rank`, with other options in its Hello where `change` says so.
  void restart(Rank rank, const std::function<void(EngineConfig&)>& change = {});

  void turn(Rank rank);
  /// Begins a step at `rank`: folds, earns a sweep and asks.
  void boundary(Rank rank);
  /// Passes everything on until nothing moves.
  void settle();
  /// Lets time go by in ticks of 100 ms, passing frames on.
  void pass(double seconds);
  /// Connects, and says all Hellos.
  void meet();

  [[nodiscard]] std::vector<float> z(Rank rank);
  /// Sum of both models: what every delta keeps, once nothing is in flight.
  [[nodiscard]] double sum();
  std::vector<float> x[2];

 private:
  struct Side;
  void make(Rank rank, std::uint64_t generation, const std::function<void(EngineConfig&)>& change);
  Options options_;
  std::unique_ptr<Side> sides_[2];
};

}  // namespace stencil::test
