// The cost of the background work without faults: allocations while busy, turns while idle.
#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "stencil/runtime/pump.h"
#include "tests/support/allocations.h"
#include "tests/support/codec_cases.h"

namespace stencil {
namespace {

/// One end of a wire between two; keeps its memory.
class Wire final : public Transport {
 public:
  static constexpr LinkId kLink = 1;
  void connect(Wire& other) { other_ = &other; }

  [[nodiscard]] std::string endpoint() const override { return "here"; }
  LinkId dial(const PeerAddress&) override {
    up_ = true;
    return kLink;
  }
  void drop(LinkId) override {}
  [[nodiscard]] SendStatus send(LinkId, Frame&& frame) override {
    largest_ = std::max(largest_, view(frame.payload).size());
    other_->arrived_.push_back(std::exchange(frame, Frame{}));
    return SendStatus::kSent;
  }
  [[nodiscard]] std::optional<Received> receive() override {
    if (std::exchange(up_, false)) return Received{LinkEvent::kUp, kLink, {}};
    if (next_ == arrived_.size()) {
      arrived_.clear();
      next_ = 0;
      return std::nullopt;
    }
    return Received{LinkEvent::kFrame, kLink, std::move(arrived_[next_++])};
  }
  [[nodiscard]] bool waiting() const { return next_ < arrived_.size(); }
  [[nodiscard]] TransportStats stats() const override { return {}; }
  [[nodiscard]] std::size_t largest() const { return largest_; }

 private:
  Wire* other_ = nullptr;
  bool up_ = false;
  std::vector<Frame> arrived_;
  std::size_t next_ = 0, largest_ = 0;
};

/// Two workers with a model of this many buckets, under the test's clock.
class Two {
 public:
  explicit Two(std::size_t buckets, CodecSpec codec = {})
      : layout_(Layout::flat(buckets * kBucketFloats, kBucketFloats)),
        values_(layout_.size(), 1.0F) {
    wires_[0].connect(wires_[1]);
    wires_[1].connect(wires_[0]);
    for (int rank = 0; rank < 2; ++rank) {
      PumpOptions options;
      options.engine.stand(Topology::parse("ring:2"), rank);
      options.engine.buckets = static_cast<std::uint32_t>(layout_.bucket_count()) + 1;
      options.engine.hello.generation = 1 + static_cast<std::uint64_t>(rank);
      options.engine.hello.codec = codec;
      const std::array<double, 2> telemetry{};
      auto& mixer = mixers_[static_cast<std::size_t>(rank)];
      auto& wire = wires_[static_cast<std::size_t>(rank)];
      mixer = std::make_unique<Mixer>(layout_, values_, telemetry);
      pumps_[static_cast<std::size_t>(rank)] = std::make_unique<Pump>(
          options, *mixer, wire, [](Rank) { return std::vector<PeerAddress>{"there"}; },
          [](LogLevel, std::string_view) {}, now_);
      next_[static_cast<std::size_t>(rank)] = now_;
    }
  }

  /// Turns each pump that has a reason, until `duration` has passed.
  void pass(Duration duration) {
    const TimePoint end = now_ + duration;
    while (true) {
      for (std::size_t i = 0; i < 2; ++i) {
        if (!wires_[i].waiting() && next_[i] > now_) continue;
        next_[i] = pumps_[i]->turn(now_, standing_[i]);
        ++turns_;
      }
      if (wires_[0].waiting() || wires_[1].waiting()) continue;
      const TimePoint next = std::min(next_[0], next_[1]);
      if (next > end) break;
      now_ = std::max(now_, next);
    }
    now_ = end;
  }
  /// Both at once, so that their offers cross, or one after the other, so that they are answered.
  void step(bool together) {
    for (std::size_t i = 0; i < 2; ++i) {
      ++standing_[i].step;
      next_[i] = now_;
      if (!together) pass(std::chrono::milliseconds(4));
    }
    pass(std::chrono::milliseconds(2));
  }

  [[nodiscard]] int turns() const { return turns_; }
  [[nodiscard]] Pump& pump(std::size_t i) const { return *pumps_[i]; }
  [[nodiscard]] const Wire& wire(std::size_t i) const { return wires_[i]; }
  static constexpr std::size_t kBucketFloats = 4096;

 private:
  TimePoint now_{};
  Layout layout_;
  std::vector<float> values_;
  std::array<Wire, 2> wires_;
  std::array<std::unique_ptr<Mixer>, 2> mixers_;
  std::array<std::unique_ptr<Pump>, 2> pumps_;
  std::array<TimePoint, 2> next_{};
  std::array<Standing, 2> standing_;
  int turns_ = 0;
};

TEST(PumpCost, AfterWarmUpNothingIsAllocatedWhateverTheModel) {
  constexpr int kSteps = 40;
  for (const CodecSpec& codec : test::every_codec(10'000)) {
    SCOPED_TRACE(name(codec));
    for (const std::size_t buckets : {3U, 50U}) {
      Two two(buckets, codec);
      two.pass(std::chrono::seconds(1));
      for (int step = 0; step < 10; ++step) two.step(step % 2 == 0);
      const EngineCounters before = two.pump(0).engine().counters();
      ::test::allocations() = {};
      for (int step = 0; step < kSteps; ++step) two.step(step % 2 == 0);
      two.pass(std::chrono::seconds(3));  // heartbeats
      const ::test::Allocations counted = ::test::allocations();
      const EngineCounters after = two.pump(0).engine().counters();
      EXPECT_GE(after.merges - before.merges, kSteps / 2 * buckets);
      EXPECT_GE(after.answers - before.answers, kSteps / 2 * buckets);
      EXPECT_EQ(counted.count, 0U) << buckets << " buckets, largest " << counted.largest;
    }
  }
}

TEST(PumpCost, AnIdleWorkerTakesAFewTurnsASecondForItsHeartbeats) {
  Two two(3);
  two.pass(std::chrono::seconds(5));
  const int before = two.turns();
  two.pass(std::chrono::seconds(100));
  const int turns = two.turns() - before;
  EXPECT_EQ(two.pump(0).status().neighbours.at(0).link, LinkState::kUp);
  // Of each of the two: 2 heartbeats sent and 2 received, and a look after the links every 2 s.
  EXPECT_GE(turns, 2 * 100 * 2);
  EXPECT_LE(turns, 2 * 100 * 6);
}

}  // namespace
}  // namespace stencil
