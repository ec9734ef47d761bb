// Who is far behind takes over a model; and what the others do meanwhile, and at the end.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <variant>

#include "tests/support/lone_engine.h"

namespace stencil {
namespace {

using std::chrono::seconds;

constexpr double kFar = 5000;

/// Rank 0 of ring:3, which trains, as do its neighbours 1 and 2.
class Adoption : public testing::Test {
 protected:
  Adoption() {
    for (const Rank rank : {1, 2}) lone_.meet(rank, static_cast<LinkId>(rank));
    EXPECT_EQ(engine().state(), WorkerState::kTraining);
    step();
  }
  [[nodiscard]] Engine& engine() { return lone_.engine; }
  void step() { engine().on_boundary(lone_.now, engine().step() + 1, lone_.out); }
  /// The neighbour greets anew, in the state that it last told, and tells of so many steps.
  void greet(Rank rank, double progress) {
    Hello hello = lone_.hello(++generation_);
    hello.life = lone_.at(rank).neighbour.life.id;
    hello.progress = progress;
    lone_.hear(rank, hello);  // learns our new epoch
    lone_.hear(rank, hello);
  }
  /// Neighbour 2 tells of a step.
  void others_train() {
    Message message = lone_.from(2, Heartbeat{});
    message.header.step = 1;
    engine().on_message(lone_.now, 2, message, lone_.out);
  }
  /// Neighbour 1 greets, joining and far ahead, after so many steps of its present life.
  void greet_as_newcomer(std::uint64_t steps) {
    Hello hello = lone_.hello(++generation_);
    hello.life = lone_.at(1).neighbour.life.id;
    hello.progress = kFar;
    for (int i = 0; i < 2; ++i) {  // the first learns our new epoch
      Message message = lone_.from(1, hello);
      message.header.state = WorkerState::kJoining;
      message.header.step = steps;
      engine().on_message(lone_.now, 1, message, lone_.out);
    }
  }
  template <typename Body>
  [[nodiscard]] bool sent_to(Rank rank) {
    return std::ranges::any_of(lone_.out, [rank](const Action& action) {
      const auto* const send = std::get_if<action::Send>(&action);
      return send != nullptr && send->to == rank && send->message.is<Body>();
    });
  }
  /// Whether neighbour 1 is asked at the end of training.
  [[nodiscard]] bool asks() {
    lone_.now += seconds(1);  // one that trains was left alone until now
    lone_.out.clear();
    engine().on_state(lone_.now, WorkerState::kSettling, lone_.out);
    engine().on_tick(lone_.now, lone_.out);
    return std::ranges::any_of(lone_.out, [](const Action& action) {
      const auto* const offer = std::get_if<action::MakeOffer>(&action);
      return offer != nullptr && offer->to == 1;
    });
  }

  test::LoneEngine lone_{"ring:3"};
  std::uint64_t generation_ = 1;
};

/// Neighbour 2 is no reason to begin with the own model again.
TEST_F(Adoption, who_gave_up_its_model_waits_for_the_neighbour_that_it_gave_it_up_for) {
  greet(1, kFar);
  ASSERT_EQ(engine().state(), WorkerState::kJoining);
  greet(2, 0);
  EXPECT_EQ(engine().state(), WorkerState::kJoining);
  lone_.out.clear();
  greet(1, kFar);
  EXPECT_TRUE(sent_to<Pull>(1));
}

TEST_F(Adoption, who_gave_up_its_model_goes_on_with_it_when_the_other_is_gone) {
  greet(1, kFar);
  greet(2, 0);
  ASSERT_EQ(engine().state(), WorkerState::kJoining);
  engine().on_link_down(lone_.now, 1, lone_.out);
  lone_.now += seconds(6);
  lone_.hear(2, Heartbeat{});
  EXPECT_EQ(engine().state(), WorkerState::kTraining);
}

/// It takes no model over any more: both have to come near each other now.
TEST_F(Adoption, one_that_was_far_behind_is_asked_once_it_has_made_its_last_step) {
  engine().on_progress(kFar);
  greet(1, 0);
  lone_.state = WorkerState::kSettling;
  lone_.hear(1, Heartbeat{});
  EXPECT_TRUE(asks());
}

TEST_F(Adoption, one_that_is_far_behind_and_trains_is_not_asked) {
  engine().on_progress(kFar);
  greet(1, 0);
  EXPECT_FALSE(asks());
}

/// Both ends judge by what both have told in the present epoch. Otherwise the one that has come far
/// since then would wait for ever for the other, which has no reason to take its model over.
TEST_F(Adoption, one_that_was_near_when_both_greeted_is_asked_however_far_this_one_has_come_since) {
  engine().on_progress(400);
  Hello hello = lone_.hello(++generation_);
  hello.life = lone_.at(1).neighbour.life.id;
  hello.progress = 300;
  lone_.hear(1, hello);  // a new epoch of ours, whose greeting tells of 400
  engine().on_progress(kFar);
  lone_.out.clear();
  lone_.hear(1, HelloRequest{});
  ASSERT_TRUE(sent_to<Hello>(1));
  EXPECT_EQ(std::get<action::Send>(lone_.out.front()).message.as<Hello>()->progress, 400);
  lone_.hear(1, hello);
  EXPECT_TRUE(asks());
}

/// What was told when the edge was new is of no use when a gap, or a reply that is missed, has it
/// synchronised anew.
TEST_F(Adoption, who_is_greeted_anew_is_judged_by_what_it_has_come_to) {
  greet(1, 0);
  engine().on_progress(kFar);
  Hello hello = lone_.hello(generation_);
  hello.life = lone_.at(1).neighbour.life.id;
  hello.progress = kFar;
  Message anew = lone_.from(1, hello);
  ++anew.header.sender_epoch;
  lone_.out.clear();
  engine().on_message(lone_.now, 1, anew, lone_.out);
  EXPECT_EQ(engine().state(), WorkerState::kTraining);
  ASSERT_TRUE(sent_to<Hello>(1));
  EXPECT_EQ(std::get<action::Send>(lone_.out.front()).message.as<Hello>()->progress, kFar);
}

TEST_F(Adoption, who_was_far_behind_when_both_greeted_follows_however_far_it_has_come_since) {
  Hello hello = lone_.hello(++generation_);
  hello.life = lone_.at(1).neighbour.life.id;
  hello.progress = kFar;
  lone_.hear(1, hello);
  engine().on_progress(kFar);
  lone_.hear(1, hello);
  EXPECT_EQ(engine().state(), WorkerState::kJoining);
}

TEST_F(Adoption, one_that_greets_after_its_last_step_is_asked_however_far_behind) {
  engine().on_progress(kFar);
  lone_.state = WorkerState::kSettled;
  greet(1, 0);
  EXPECT_TRUE(asks());
}

/// It has given its model up for another's, and comes with that soon: it has no saved one.
TEST_F(Adoption, one_that_has_made_steps_and_starts_over_is_believed) {
  others_train();
  greet_as_newcomer(7);
  EXPECT_EQ(engine().state(), WorkerState::kJoining);
}

TEST_F(Adoption, one_that_has_made_none_comes_with_a_saved_model_which_is_not_believed) {
  others_train();
  greet_as_newcomer(0);
  EXPECT_EQ(engine().state(), WorkerState::kTraining);
  EXPECT_FALSE(asks());
}

TEST_F(Adoption, one_that_is_not_believed_is_not_asked_at_the_end_either) {
  greet(1, 1e300);
  lone_.state = WorkerState::kSettling;
  lone_.hear(1, Heartbeat{});
  EXPECT_FALSE(asks());
}

}  // namespace
}  // namespace stencil
