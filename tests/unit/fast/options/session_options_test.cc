#include "fast/options/session_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "fast/errors.h"

namespace fast {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// "" where the options are valid.
std::string error_of(const SessionOptions& options) {
  try {
    options.validate();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(SessionOptionsTest, AsTheyComeTheyAreValid) {
  EXPECT_EQ(error_of({}), "");
  EXPECT_EQ(error_of({.topology = "torus:2x2", .rank = 3}), "");
}

TEST(SessionOptionsTest, ARefusalNamesTheOptionItsValueAndTheRemedy) {
  struct Refusal {
    std::function<void(SessionOptions&)> change;
    std::vector<std::string> says;  ///< the option, its value, what to use instead
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Refusal> refusals = {
      {[](auto& o) { o.exchange.window = 0; }, {"window 0", "use 1 to 1024 buckets"}},
      {[](auto& o) { o.exchange.window = 1025; }, {"window 1025", "use 1 to 1024 buckets"}},
      {[](auto& o) { o.exchange.sweeps = -1; }, {"sweeps -1", "use 0", "auto"}},
      {[](auto& o) { o.exchange.suspect_after = 0; },
       {"suspect_after 0 ", "use more than 0 seconds"}},
      {[](auto& o) { o.exchange.gone_after = 2; },
       {"gone_after 2", "suspect_after 3", "raise gone_after"}},
      {[nan](auto& o) { o.exchange.linger = nan; }, {"linger nan", "use a share of a step"}},
      {[](auto& o) { o.exchange.mode = "bounded:0"; }, {"'bounded:0'", "K >= 1"}},
      {[](auto& o) { o.exchange.codec = "fp8"; }, {"'fp8'", "use one of"}},
      {[](auto& o) { o.exchange.transport = "pigeon"; }, {"'pigeon'", "use one of"}},
      {[](auto& o) { o.exchange.codec = "topk:0.1", o.exchange.mode = "sync"; },
       {"codec topk:0.1", "mode sync", "use mode async"}},
      {[](auto& o) { o.epochs = -1, o.data_size = 1; }, {"epochs -1", "use more than 0"}},
      {[](auto& o) { o.epochs = 2, o.data_size = 1, o.budget = 7; },
       {"both epochs and budget", "give one"}},
      {[](auto& o) { o.epochs = 2; }, {"epochs 2", "how many examples", "give data_size"}},
      {[](auto& o) { o.epochs = 2, o.data_size = 1, o.exchange.mode = "sync"; },
       {"mode sync", "epochs", "give budget"}},
      {[](auto& o) { o.naming = stencil::as_flag, o.exchange.window = 0; }, {"--window 0"}},
      {[](auto& o) { o.topology = "ring"; }, {"'ring'", "ring:N"}},
      {[](auto& o) { o.rank = 1; }, {"rank 1 ", "ring:1", "use 0 to 0"}},
      {[](auto& o) { o.topology = "torus:2x2", o.rank = 4; },
       {"rank 4 ", "torus:2x2", "use 0 to 3"}},
      {[](auto& o) { o.rank = -1; }, {"rank -1 ", "use 0 to 0"}},
      {[](auto& o) { o.peer_template = "tcp://worker:5555"; },
       {"peer template", "'tcp://worker:5555'", "{rank}"}},
  };
  for (const Refusal& refusal : refusals) {
    SessionOptions options;
    refusal.change(options);
    const std::string error = error_of(options);
    for (const std::string& part : refusal.says) EXPECT_THAT(error, HasSubstr(part));
    EXPECT_THAT(error, HasSubstr("; ")) << "cause; remedy";
  }
}

TEST(SessionOptionsTest, ARunIdIsOfAFewLettersThatCanBeShown) {
  SessionOptions options;
  for (const std::string& id : {std::string("a"), std::string(256, 'x'), std::string("Läufe 7")}) {
    options.run_id = id;
    EXPECT_EQ(error_of(options), "") << id;
  }
  for (const std::string& id :
       {std::string(), std::string(257, 'x'), std::string("two\nlines"), std::string("bell\x07"),
        std::string("del\x7f"), std::string("a\0b", 3)}) {
    options.run_id = id;
    EXPECT_THAT(error_of(options),
                AllOf(HasSubstr("run id"), HasSubstr("name the run in a few letters"),
                      Not(HasSubstr("\n")), Not(HasSubstr("\x07"))));
  }
}

}  // namespace
}  // namespace fast
