// Faults of the engine that were mended, as recordings of what a worker saw (tests/sim/recordings):
// played again, it must decide as it does since. Where decisions or the layout of recordings change
// on purpose, make them anew, and see that each test still fails without its mend:
//
//     FAST_RECORD_ANEW=1 build/tests/sim_recordings_test
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "stencil/engine/engine.h"
#include "stencil/runtime/journal.h"
#include "stencil/runtime/replay.h"
#include "tests/support/sim_cases.h"

namespace stencil {
namespace {

using std::chrono::milliseconds;

std::string file_of(const std::string& name) {
  return FAST_RECORDINGS "/" + name + ".journal";
}

/// Plays a recording that `make` makes again and hands `look` each input with its decisions. It
/// must be decided as recorded.
void play(const std::string& name, Bytes (*make)(),
          const std::function<void(const Replayed&)>& look) {
  if (std::getenv("FAST_RECORD_ANEW") != nullptr) {
    const Bytes made = make();
    std::ofstream(file_of(name), std::ios::binary)
        .write(reinterpret_cast<const char*>(made.data()),
               static_cast<std::streamsize>(made.size()));
  }
  std::ifstream in(file_of(name), std::ios::binary);
  const std::vector<char> file((std::istreambuf_iterator<char>(in)), {});
  Result<Replay> replayed = replay(std::as_bytes(std::span(file)), look);
  ASSERT_TRUE(replayed) << file_of(name) << ": " << replayed.error().text;
  EXPECT_EQ(replayed->other, 0U) << "see: fast replay " << file_of(name);
  EXPECT_EQ(replayed->failure, "");
  EXPECT_GT(replayed->inputs, 0U);
}

/// Rank 0 of ring:4 at its first boundary, recorded, between neighbours that a test plays. It meets
/// first() in its first turn and second() in its second.
class Recorded {
 public:
  Recorded() : engine_(config(), neighbours_, now) {
    engine_.show(now, journal);
    for (const Rank rank : {1, 3}) {
      engine_.on_link_up(now, rank, out_);
      hear(rank, config().hello);
    }
  }
  Engine* operator->() { return &engine_; }
  Actions& out() { return out_; }
  [[nodiscard]] Rank first() { return neighbours_.in_turn(0)->rank; }
  [[nodiscard]] Rank second() { return neighbours_.in_turn(1)->rank; }

  void hear(Rank rank, MessageBody body) {
    Message message{.header = {}, .body = std::move(body)};
    message.header.from = rank;
    message.header.sender_epoch = 7;
    message.header.receiver_epoch = neighbours_.at(rank).life.our_epoch;
    message.header.state = WorkerState::kTraining;
    message.header.number = ++said_;
    engine_.on_message(now, rank, message, out_);
    carry_out();
  }
  void offer(Rank rank, std::uint32_t bucket) {
    const SequenceBook& book = neighbours_.at(rank).book;
    hear(rank, Offer{.sequence = book.answered + book.held.size() + 1,
                     .bucket = bucket,
                     .payload = Payload(Bytes(1))});
  }
  /// Tells the engine what came of its actions.
  void carry_out() {
    for (const Action& action : std::exchange(out_, {})) {
      if (const auto* offer = std::get_if<action::MakeOffer>(&action)) {
        engine_.on_offer_made(offer->to, offer->sequence, {.payload = Payload(Bytes(1))}, out_);
      }
    }
  }

  TimePoint now{};
  Journal journal;

 private:
  static EngineConfig config() {
    EngineConfig config;
    config.stand(Topology::parse("ring:4"), 0);
    config.buckets = 3;
    config.grid.sweeps_per_mille = 2000;
    config.hello.generation = 1;
    return config;
  }

  Actions out_;
  std::uint64_t said_ = 0;
  Neighbours neighbours_;
  Engine engine_;
};

Bytes crossed_before_made() {
  Recorded run;
  run->on_pause(run.now, Pause::kGathering, run.out());
  run->on_boundary(run.now, 1, run.out());
  run.carry_out();
  run.offer(run.second(), 1);
  run.offer(run.second(), 0);
  run.offer(run.first(), 0);
  run->on_pause(run.now, Pause::kSweeping, run.out());
  run.now += std::chrono::hours(1);
  run->on_boundary(run.now, 2, run.out());
  run.carry_out();
  run.hear(run.second(), Heartbeat{});
  return run.journal.file();
}

/// A pause asked for a bucket, and the boundary after it let a held offer of the same bucket cross
/// ours before it was made.
TEST(Recordings, an_offer_that_is_not_made_yet_crosses_nothing) {
  int merges = 0;
  play("crossed_before_made", crossed_before_made, [&](const Replayed& replayed) {
    for (const Action& action : replayed.decided) {
      const auto* merge = std::get_if<action::Merge>(&action);
      if (merge == nullptr) continue;
      ++merges;
      EXPECT_TRUE(merge->ours.made) << "input " << replayed.number;
    }
  });
  EXPECT_GT(merges, 0) << "once it is made they cross";
}

Bytes held_too_long() {
  Recorded run;
  run->on_pause(run.now, Pause::kSweeping, run.out());
  run->on_boundary(run.now, 1, run.out());
  run.carry_out();
  run.offer(run.second(), 0);
  for (const int passed : {2500, 2499, 1, 2500, 2500}) {
    run.now += milliseconds(passed);
    for (const Rank rank : {1, 3}) run.hear(rank, Heartbeat{});
    run->on_tick(run.now, run.out());
    run.carry_out();
  }
  return run.journal.file();
}

/// It was held until the pause was over, and by then its sender had begun the edge anew.
TEST(Recordings, an_offer_is_not_held_so_long_that_its_reply_is_taken_for_lost) {
  std::vector<Duration> answered;
  play("held_too_long", held_too_long, [&](const Replayed& replayed) {
    for (const Action& action : replayed.decided) {
      if (std::holds_alternative<action::Answer>(action)) answered.push_back(replayed.at);
    }
  });
  EXPECT_THAT(answered, testing::ElementsAre(EngineConfig{}.reply_deadline / 2));
}

Bytes stale_checkpoint() {
  Journal journal({.time = milliseconds(300)});
  sim::SimulationConfig config = test::plain_config();
  config.topology = Topology::parse("ring:5");
  config.adopt = true;
  config.step_seconds = 0.1;
  config.link = {.latency = 0.001};
  config.steps = 3000;
  const auto objective = sim::make_objective("quadratic", 5, 8, 0.001, 0, 1);
  sim::Simulation earlier(config, *objective);
  earlier.run_until(150);
  const sim::Saved saved = earlier.save(2);
  config.witness = [&](Rank rank) { return rank == 1 ? &journal : nullptr; };
  sim::Simulation simulation(config, *objective);
  simulation.run_until(20);
  simulation.kill(2, sim::Death::kProcess);
  simulation.run_until(25);
  simulation.restart(2, &saved);
  simulation.run_until(25.3);
  return journal.file();
}

/// Each worker of a living grid dropped its model for a stale one, since that had come further.
TEST(Recordings, a_stale_checkpoint_does_not_win_over_a_living_grid) {
  int greeted = 0;
  play("stale_checkpoint", stale_checkpoint, [&](const Replayed& replayed) {
    if (const auto* heard = std::get_if<input::Heard>(&replayed.input)) {
      const Hello* const hello = heard->message.as<Hello>();
      greeted += hello != nullptr && hello->progress > 1000 ? 1 : 0;
    }
    for (const Action& action : replayed.decided) {
      const auto* send = std::get_if<action::Send>(&action);
      EXPECT_FALSE(send != nullptr && send->message.is<Pull>())
          << "input " << replayed.number << ": its model is asked for";
    }
  });
  EXPECT_GT(greeted, 0);
}

}  // namespace
}  // namespace stencil
