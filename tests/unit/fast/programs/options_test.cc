#include "fast/programs/cli/options.h"

#include <gmock/gmock.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "fast/errors.h"
#include "fast/programs/cli/config_file.h"
#include "fast/programs/cli/validate_config.h"

namespace fast {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// The models of a build: the first one is the default where there is no "resnet8".
const Models& models() {
  static const Models kModels({{"linear", {}}, {"resnet8", {}}});
  return kModels;
}

/// An environment variable that is set during this object's lifetime.
class ScopedVariable {
 public:
  ScopedVariable(std::string name, const std::string& value) : name_(std::move(name)) {
    setenv(name_.c_str(), value.c_str(), 1);
  }
  ~ScopedVariable() { unsetenv(name_.c_str()); }

 private:
  std::string name_;
};

class OptionsTest : public ::testing::Test {
 protected:
  OptionsTest()
      : file_(std::filesystem::path(::testing::TempDir()) /
              ("options-" + std::to_string(std::random_device()()) + ".toml")) {}
  ~OptionsTest() override { std::filesystem::remove(file_); }

  TrainConfig parse(const std::vector<std::string>& args, OptionSet set = OptionSet::kTrain) {
    TrainConfig config = default_config(models());
    CLI::App app("", "fast train");
    set_conventions(app, "");
    bind_options(app, config, set, models());
    EXPECT_EQ(parse_arguments(app, args), std::nullopt);
    return config;
  }
  std::string write(const std::string& text) {
    std::ofstream(file_) << text;
    return file_.string();
  }
  std::string error_of(const std::vector<std::string>& args, OptionSet set = OptionSet::kTrain) {
    try {
      (void)validate_config(parse(args, set), models());
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "no error";
  }

  std::filesystem::path file_;
};

TEST_F(OptionsTest, WithoutAnythingTheDefaultsStand) {
  const TrainConfig config = parse({});
  EXPECT_EQ(config.worker.session.topology, "torus:2x2");
  EXPECT_EQ(config.worker.batch, 32);
  EXPECT_EQ(config.worker.threads, 0);
  EXPECT_EQ(config.workers, 0);
}

TEST_F(OptionsTest, AFlagWinsOverTheFileAndTheFileOverTheEnvironment) {
  const ScopedVariable rate("FAST_LEARNING_RATE", "0.3"), batch("FAST_BATCH", "16"),
      epochs("FAST_EPOCHS", "9");
  const std::string file = write("learning-rate = 0.2\nbatch = 64\n");
  const TrainConfig config = parse({"--config", file, "--learning-rate", "0.1"});
  EXPECT_EQ(config.worker.optimizer.learning_rate, 0.1);
  EXPECT_EQ(config.worker.batch, 64);
  EXPECT_EQ(config.worker.epochs, 9);
}

TEST_F(OptionsTest, RepeatableOptionsAndSwitchesFollowTheSamePrecedence) {
  const ScopedVariable slow("FAST_SLOW", "0:2,1:3"), quiet("FAST_QUIET", "true");
  EXPECT_EQ(parse({}).slow, (std::map<int, double>{{0, 2}, {1, 3}}));
  EXPECT_TRUE(parse({}).worker.quiet);
  const std::string file = write("slow = [\"2:4\", '3:1.5']\naugment = false\nquiet = false\n");
  EXPECT_EQ(parse({"--config", file}).slow, (std::map<int, double>{{2, 4}, {3, 1.5}}));
  EXPECT_FALSE(parse({"--config", file}).worker.augment);
  EXPECT_FALSE(parse({"--config", file}).worker.quiet);
  EXPECT_EQ(parse({"--config", file, "--slow", "1:8"}).slow, (std::map<int, double>{{1, 8}}));
  EXPECT_TRUE(parse({"--config", file, "--augment"}).worker.augment);
  EXPECT_FALSE(parse({"--no-augment"}).worker.augment);
}

TEST_F(OptionsTest, WhatIsPrintedReadsBackToTheSameValues) {
  TrainConfig config = default_config(models());
  config.worker.session.topology = "edges:a \"strange\" # path\\with\tall, of [it].txt";
  config.worker.session.run_id = "";
  config.worker.out = "7";
  config.worker.data = "true";
  config.worker.session.rank = 3;
  config.worker.optimizer.learning_rate = 0.1 + 0.2;
  config.worker.optimizer.weight_decay = 1e-300;
  config.worker.schedule = "step:0.1@0.5,0.75";
  config.worker.session.seed = 18446744073709551615U;
  config.worker.session.peers = {{0, "tcp://[::1]:5555"}, {2, "file:a b/worker-2/endpoint"}};
  config.worker.augment = false;
  config.worker.quiet = true;
  config.worker.session.peer_template = "tcp://worker-{rank}:5555";
  config.slow = {{1, 1.0 / 3 + 1}};
  config.workers = 4;
  config.worker_program = "/a/b";
  for (const OptionSet set : {OptionSet::kTrain, OptionSet::kWorker, OptionSet::kShared}) {
    const std::string text = to_toml(config, set, models());
    const TrainConfig back = parse({"--config", write(text)}, set);
    EXPECT_EQ(to_toml(back, set, models()), text);
    EXPECT_EQ(back.worker.session.topology, config.worker.session.topology);
    EXPECT_EQ(back.worker.optimizer.learning_rate, config.worker.optimizer.learning_rate);
    EXPECT_EQ(back.worker.session.seed, config.worker.session.seed);
    EXPECT_EQ(back.slow, config.slow);
    if (set == OptionSet::kWorker) {
      EXPECT_EQ(back.worker.session.peers, config.worker.session.peers);
      EXPECT_EQ(back.worker.session.rank, 3);
      EXPECT_EQ(back.worker.session.run_id, "");
    }
  }
}

TEST_F(OptionsTest, SweepsAreANumberOrAuto) {
  EXPECT_FALSE(parse({}).worker.session.exchange.sweeps);
  EXPECT_EQ(parse({"--sweeps", "0.25"}).worker.session.exchange.sweeps, 0.25);
  EXPECT_FALSE(parse({"--sweeps", "2", "--sweeps", "auto"}).worker.session.exchange.sweeps);
  for (const std::optional<double> sweeps : {std::optional<double>{}, std::optional(1.5)}) {
    TrainConfig config = default_config(models());
    config.worker.session.exchange.sweeps = sweeps;
    const std::string file = write(to_toml(config, OptionSet::kTrain, models()));
    EXPECT_EQ(parse({"--config", file}).worker.session.exchange.sweeps, sweeps);
  }
  EXPECT_THAT(error_of({"--sweeps", "many"}), HasSubstr("--sweeps"));
}

TEST_F(OptionsTest, ARunFoldersConfigurationServesBothPrograms) {
  const std::string file = write(to_toml(default_config(models()), OptionSet::kShared, models()));
  EXPECT_EQ(parse({"--config", file}, OptionSet::kTrain).worker.batch, 32);
  EXPECT_EQ(parse({"--config", file}, OptionSet::kWorker).worker.batch, 32);
  const ScopedVariable batch("FAST_EPOCHS", "77");
  EXPECT_EQ(read_config_file(file, models()).worker.epochs, 5);
}

TEST_F(OptionsTest, ARunsConfigurationThatWasCutOffIsNamed) {
  TrainConfig config = default_config(models());
  config.worker.batch = 17;
  const std::string text =
      run_config("id-1", "fast-worker --rank K", to_toml(config, OptionSet::kShared, models()));
  EXPECT_EQ(run_of_config(text), "id-1");
  EXPECT_EQ(run_of_config("# Run id-1. One of its workers\nbatch = 3\n"), "id-1");
  EXPECT_EQ(run_of_config("batch = 3\n"), "");
  EXPECT_EQ(parse({"--config", write(text)}).worker.batch, 17);
  EXPECT_EQ(parse({"--config", write("# Run id-1. One of its workers\nbatch = 3\n")}).worker.batch,
            3);
  for (std::size_t left = 7; left < text.size(); left += 211) {
    EXPECT_THAT(error_of({"--config", write(text.substr(0, left))}), HasSubstr(".toml")) << left;
  }
  EXPECT_THAT(error_of({"--config", write(text.substr(0, text.size() - 1))}),
              HasSubstr("was cut off"));
}

TEST_F(OptionsTest, AnUnknownKeyOfTheFileIsNamedWithItsLineAndTheNearestKey) {
  EXPECT_THAT(error_of({"--config", write("batch = 8\n\nlearning_rat = 1\n")}),
              AllOf(HasSubstr(".toml:3"), HasSubstr("'learning-rat'"),
                    HasSubstr("did you mean learning-rate?")));
  EXPECT_THAT(error_of({"--config", write("rank = 1\n")}), HasSubstr("unknown key 'rank'"));
  EXPECT_THAT(error_of({"--config", write("config = 'x'\n")}), HasSubstr("unknown key 'config'"));
}

TEST_F(OptionsTest, ABrokenFileIsNamedWithItsLine) {
  EXPECT_THAT(error_of({"--config", write("topology = torus:2x2\n")}),
              AllOf(HasSubstr(".toml:1"), HasSubstr("quotes")));
  EXPECT_THAT(error_of({"--config", write("batch = [8, 9]\n")}), HasSubstr("one value, not 2"));
  EXPECT_THAT(error_of({"--config", write("lr = 1\nlearning-rate = 2\n")}),
              HasSubstr("'lr' and 'learning-rate' are the same option"));
  EXPECT_THAT(error_of({"--config", write("quiet = 1\n")}), HasSubstr("true or false"));
  EXPECT_THAT(error_of({"--config", "/nonexistent/x.toml"}), HasSubstr("/nonexistent/x.toml"));
  EXPECT_THAT(error_of({"--config", write("batch = 1.5\n")}), HasSubstr("batch"));
}

TEST_F(OptionsTest, OfAFlagGivenTwiceTheLastCounts) {
  EXPECT_EQ(parse({"--batch", "8", "--batch", "9"}).worker.batch, 9);
}

TEST_F(OptionsTest, AMistypedFlagGetsASuggestion) {
  EXPECT_THAT(error_of({"--topolgy", "ring:3"}),
              AllOf(HasSubstr("--topolgy"), HasSubstr("did you mean --topology?")));
  EXPECT_THAT(error_of({"--batch", "many"}), HasSubstr("many"));
  EXPECT_THAT(error_of({"--batch"}), HasSubstr("--batch"));
}

TEST_F(OptionsTest, ValuesOutOfRangeAreNamedWithARemedy) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--topology", "hexagon:3"}, "hexagon:3"},
      {{"--workers", "3"}, "--workers 3 contradicts --topology torus:2x2, which has 4"},
      {{"--batch", "0"}, "--batch 0"},
      {{"--epochs", "nan"}, "--epochs nan"},
      {{"--epochs", "-1"}, "--epochs -1"},
      {{"--sweeps", "-0.5"}, "--sweeps -0.5"},
      {{"--linger", "2"}, "--linger 2"},
      {{"--phase-lock", "2"}, "--phase-lock 2"},
      {{"--mix-threads", "0"}, "--mix-threads 0"},
      {{"--memory-budget", "64TB"}, "memory_budget '64TB'"},
      {{"--lr", "0"}, "--learning-rate 0"},
      {{"--momentum", "1"}, "--momentum 1"},
      {{"--warmup", "2"}, "--warmup 2"},
      {{"--mode", "asink"}, "asink"},
      {{"--mode", "bounded:"}, "bounded:"},
      {{"--mode", "bounded:0"}, "bounded:0"},
      {{"--codec", "fp8"}, "fp8"},
      {{"--codec", "topk:0.7"}, "topk:0.7"},
      {{"--codec", "topk:0.01", "--mode", "sync"}, "use mode async"},
      {{"--model", "resnet9000"}, "model 'resnet9000' is unknown"},
      {{"--optimizer", "adam"}, "did you mean adamw?"},
      {{"--schedule", "cosin"}, "cosin"},
      {{"--partition", "dirichlet:x"}, "dirichlet:x"},
      {{"--data", "imagenet:here"}, "imagenet:here"},
      {{"--buffers", "global"}, "buffers 'global'"},
      {{"--log-level", "loud"}, "log level 'loud'"},
      {{"--suspect-after", "0"}, "--suspect-after 0"},
      {{"--suspect-after", "90"}, "--gone-after 60 is less than --suspect-after 90"},
      {{"--start-deadline", "-1"}, "--start-deadline -1"},
      {{"--restarts", "-1"}, "--restarts -1"},
      {{"--restarts", "1", "--mode", "sync"}, "--restarts with --mode sync"},
      {{"--slow", "4:2"}, "--slow 4:2"},
      {{"--slow", "1:0.5"}, "--slow 0.5"},
      {{"--slow", "1=2"}, "--slow 1=2"},
      {{"--slow", "1:fast"}, "'fast' is no number"},
      {{"--bucket-kib", "-1"}, "--bucket-kib -1"},
      {{"--window", "0"}, "--window 0"},
      {{"--settle-target", "-1"}, "--settle-target -1"},
      {{"--report-every", "inf"}, "--report-every inf"},
      {{"--out", ""}, "--out is empty"},
  };
  for (const auto& [args, expected] : cases) {
    std::vector<std::string> all = args;
    if (args[0] != "--model") all.insert(all.end(), {"--model", "linear"});
    EXPECT_THAT(error_of(all), AllOf(HasSubstr(expected), HasSubstr("; "))) << args[0];
  }
}

TEST_F(OptionsTest, AStartDeadlineOfZeroIsNone) {
  EXPECT_EQ(error_of({"--start-deadline", "0", "--model", "linear"}), "no error");
}

TEST_F(OptionsTest, AWorkersPlaceIsChecked) {
  SessionOptions config;
  const stencil::Topology ring = stencil::Topology::parse("ring:5");
  config.topology = "ring:5";
  config.rank = 5;
  EXPECT_THROW(validate_place(config, ring), ConfigError);
  config.rank = 0;
  EXPECT_NO_THROW(validate_place(config, ring));
  config.peers = {{2, "tcp://a:1"}};
  EXPECT_THROW(validate_place(config, ring), ConfigError);
  config.peers = {{4, "tcp://a:1"}};
  EXPECT_NO_THROW(validate_place(config, ring));
}

}  // namespace
}  // namespace fast
