// Sessions within a budget of memory: what is refused, what is said, what is not done.
#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "fast/checkpoint/saved_state.h"
#include "fast/errors.h"
#include "tests/integration/session/session_fixture.h"
#include "tests/support/cifar_files.h"

namespace fast {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class MemoryBudgetTest : public SessionTest {
 protected:
  [[nodiscard]] SessionOptions budgeted(const std::string& budget) const {
    SessionOptions own = options("ring:1", 0);
    own.exchange.memory_budget = budget;
    own.checkpoint = file("checkpoint");
    return own;
  }
  [[nodiscard]] std::string file(const std::string& name) const {
    return (folder_.path() / name).string();
  }

  testing::TemporaryFolder folder_;
};

TEST_F(MemoryBudgetTest, OneThatIsTooSmallIsRefusedBeforeAnythingIsHeld) {
  std::vector<float> x(1'000'000);
  FlatAdapter adapter(x);
  SessionOptions own = budgeted("8MB");
  own.naming = stencil::as_flag;
  try {
    const Session session(adapter, own);
    FAIL() << "nothing was refused";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("--memory-budget 8MB is too little"),
                                    HasSubstr("y and p 8"), HasSubstr("checkpoint 4MB")));
  }
}

TEST_F(MemoryBudgetTest, WhatIsHeldBesideTheExchangeIsInTheSum) {
  std::vector<float> x(100'000);
  FlatAdapter adapter(x);
  SessionOptions own = budgeted("32MB");
  std::uint64_t without = 0;
  {
    const Session session(adapter, own);
    without = session.status().counter("memory_held");
  }
  own.held_beside = {{"data", 3'000'000}, {"optimizer", 400'000}};
  {
    const Session session(adapter, own);
    EXPECT_EQ(session.status().counter("memory_held"), without + 3'400'000);
  }
  own.held_beside[0].second = 40'000'000;
  try {
    const Session session(adapter, own);
    FAIL() << "nothing was refused";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("data 40MB + optimizer 400kB + y and p"),
                                    HasSubstr("fewer examples or a smaller batch")));
  }
}

TEST_F(MemoryBudgetTest, StatusSaysWhatItIsAndWhatIsHeld) {
  std::vector<float> x(100'000);
  FlatAdapter adapter(x);
  SessionOptions own = budgeted("32MB");
  Session session(adapter, own);
  EXPECT_EQ(session.status().counter("memory_budget"), 32'000'000U);
  const std::uint64_t before = session.status().counter("memory_held");
  EXPECT_GE(before, 2 * 400'000U) << "y and p";
  session.exchange({.samples = 1, .loss = 1});
  session.save_checkpoint(file("checkpoint"));
  EXPECT_GE(session.status().counter("memory_held"), before + 400'000) << "and the checkpoint";
}

/// A part that has grown since the session began.
struct Growing final : Resumable {
  void save(StateWriter& to) override { to.put("growing", std::span<const float>(values)); }
  void load(const StateReader&) override {}
  std::vector<float> values;
};

TEST_F(MemoryBudgetTest, ACheckpointThatHasOutgrownItIsNotTakenAndThatIsSaid) {
  std::vector<float> x(100'000);
  FlatAdapter adapter(x);
  Growing part;
  adapter.attach(part);
  std::string said;
  SessionOptions own = budgeted("32MB");
  own.log = [&said](LogLevel level, std::string_view text) {
    if (level == LogLevel::kError) said = text;
  };
  Session session(adapter, own);
  part.values.resize(x.size() * 2 + 8);
  session.save_checkpoint(file("momenta"));
  EXPECT_EQ(said, "") << "two numbers for each value, and a few more, are what an optimizer keeps";
  part.values.resize(x.size() * 2 + 2000);
  session.save_checkpoint(file("too-large"));
  EXPECT_THAT(said, AllOf(HasSubstr("no checkpoint"), HasSubstr("memory_budget 32MB keeps 1.3MB")));
  EXPECT_FALSE(std::filesystem::exists(file("too-large")));
  adapter.detach(part);
}

}  // namespace
}  // namespace fast
