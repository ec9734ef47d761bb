#include "bench/compare/spec.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "bench/compare/condition_override.h"
#include "fast/errors.h"
#include "fast/train/worker_config.h"

namespace fast::compare {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr char kGood[] = R"(name = "good"
seeds = [1, 2]
[job]
epochs = 3
[[condition]]
name = "uniform"
[[condition]]
name = "slow"
slow = {"1" = 4}
[[strategy]]
name = "allreduce"
[[strategy]]
name = "stencil-bounded:3"
seeds = [7]
conditions = ["slow"]
)";

TEST(Spec, every_strategy_meets_every_condition_with_every_seed) {
  const Spec spec = parse_spec(kGood, "good.toml");
  ASSERT_EQ(spec.cells.size(), 5U);
  EXPECT_EQ(spec.cells[0].strategy.name, "allreduce");
  EXPECT_EQ(spec.cells[1].seed, 2U);
  EXPECT_EQ(spec.cells[2].condition.slow.at(1), 4);
  EXPECT_EQ(spec.cells[4].strategy.name, "stencil-bounded:3");
  EXPECT_EQ(spec.cells[4].seed, 7U);
  EXPECT_EQ(spec.cells[0].job.epochs, 3);
}

TEST(Spec, a_condition_may_have_its_own_seeds) {
  std::string text = kGood;
  text.insert(text.find("slow = {"), "seeds = [7, 8]\n");
  const Spec spec = parse_spec(text, "seeds.toml");
  std::vector<std::string> made;
  for (const Cell& cell : spec.cells) {
    made.push_back(cell.condition.name + " " + cell.strategy.name + " " +
                   std::to_string(cell.seed));
  }
  EXPECT_THAT(made, ElementsAre("uniform allreduce 1", "uniform allreduce 2", "slow allreduce 7",
                                "slow allreduce 8", "slow stencil-bounded:3 7"));
}

TEST(Spec, what_is_not_said_is_as_a_worker_has_it) {
  const Spec spec = parse_spec(R"(
name = "defaults"
[job]
[[condition]]
name = "four neighbours"
topology = "torus:4x4"
[[condition]]
name = "two"
topology = "ring:5"
partition = "dirichlet:0.5"
[[strategy]]
name = "stencil-async"
[[strategy]]
name = "stencil-bounded:2"
sweeps = 7
linger = 0
[[strategy]]
name = "allreduce"
)",
                               "defaults.toml");
  ASSERT_EQ(spec.cells.size(), 6U);
  const WorkerConfig usual;
  EXPECT_EQ(spec.cells[0].strategy.exchange.sweeps, 4);
  EXPECT_EQ(spec.cells[0].strategy.exchange.linger, usual.session.exchange.linger);
  EXPECT_GT(usual.session.exchange.linger, 0);
  EXPECT_EQ(spec.cells[0].strategy.exchange.phase_lock, usual.session.exchange.phase_lock);
  EXPECT_GT(usual.session.exchange.phase_lock, 0);
  EXPECT_EQ(spec.cells[1].strategy.exchange.sweeps, 7);
  EXPECT_EQ(spec.cells[1].strategy.exchange.linger, 0);
  EXPECT_EQ(spec.cells[2].strategy.exchange.sweeps, std::nullopt);
  EXPECT_EQ(spec.cells[2].strategy.exchange.linger, 0);
  EXPECT_EQ(spec.cells[0].strategy.buffers, usual.buffers);
  EXPECT_EQ(spec.cells[2].strategy.buffers, "local") << "nothing of it is averaged at the end";
  EXPECT_EQ(spec.cells[0].strategy.momentum_correction, usual.optimizer.momentum_correction);
  EXPECT_EQ(spec.cells[3].strategy.exchange.sweeps, 4);
  EXPECT_EQ(spec.cells[5].strategy.momentum_correction, 0) << "its gradients are averaged";
}

TEST(Spec, a_strategy_may_have_its_own_number_of_epochs) {
  const Spec spec = parse_spec(std::string(kGood) +
                                   "epochs = 4.5\n"
                                   "[[strategy]]\nname = \"stencil-bounded:3\"\nseeds = [7]\n",
                               "epochs.toml");
  ASSERT_EQ(spec.cells.size(), 7U);
  EXPECT_EQ(spec.cells[2].job.epochs, 3);
  EXPECT_EQ(spec.cells[5].job.epochs, 4.5) << "of the same condition as the longer one's";
  EXPECT_EQ(spec.cells[6].job.epochs, 3);
}

TEST(Spec, tuning_tries_every_rate_on_held_out_examples) {
  std::string text = kGood;
  text.replace(text.find("epochs = 3"), 10, "validation = 10");
  const Spec spec = parse_spec(text + "[tune]\nlearning_rates = [0.1, 0.2]\n", "tune.toml");
  ASSERT_EQ(spec.cells.size(), 10U);
  EXPECT_TRUE(spec.cells[0].tuning);
  EXPECT_EQ(spec.cells[1].strategy.learning_rate, 0.2);
}

TEST(Spec, every_committed_one_is_read_and_called_as_its_file) {
  int specs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(FAST_SPECS)) {
    if (!entry.is_regular_file()) continue;  // what they include
    const Spec spec = read_spec(entry.path().string());
    EXPECT_FALSE(spec.question.empty()) << entry.path() << ": say what it answers";
    EXPECT_EQ(spec.name + ".toml", entry.path().filename());
    EXPECT_FALSE(spec.cells.empty()) << entry.path();
    ++specs;
  }
  EXPECT_GT(specs, 10);
}

TEST(ConditionOverride, takes_the_place_of_the_specs_own) {
  ConditionOverride told;
  told.slow = {"2:6"};
  told.link_mbit = 50;
  const Spec spec = under(parse_spec(kGood, "good.toml"), told);
  ASSERT_EQ(spec.cells.size(), 3U) << "each strategy once a seed";
  EXPECT_EQ(spec.cells[0].condition.slow.at(2), 6);
  EXPECT_EQ(spec.cells[2].condition.name, "worker 2 6x slower, 50 Mbit/s");
  EXPECT_EQ(spec.cells[2].strategy.name, "stencil-bounded:3");
}

TEST(ConditionOverride, another_topology_is_given_the_sweeps_that_it_asks_for) {
  ConditionOverride told;
  told.topology = "torus:4x4";
  Spec spec = under(parse_spec(kGood, "good.toml"), told);
  EXPECT_EQ(spec.cells[2].strategy.exchange.sweeps, 4);
  spec = under(parse_spec(std::string(kGood) + "sweeps = 1\n", "good.toml"), told);
  EXPECT_EQ(spec.cells[2].strategy.exchange.sweeps, 1) << "as the spec says";
}

TEST(ConditionOverride, what_cannot_be_is_refused_by_name) {
  for (const char* const text : {"4:2", "1:0.5", "1", "one:4", "1:4x"}) {
    ConditionOverride told;
    told.slow = {text};
    EXPECT_THAT([&] { (void)under(parse_spec(kGood, "good.toml"), told); },
                ThrowsMessage<ConfigError>(HasSubstr(std::string("--slow ") + text)));
  }
}

TEST(ConditionOverride, an_impossible_condition_is_refused_as_in_a_spec) {
  const auto refusal_of = [](auto&& set) {
    return [set] {
      ConditionOverride told;
      set(told);
      (void)under(parse_spec(kGood, "good.toml"), told);
    };
  };
  EXPECT_THAT(refusal_of([](ConditionOverride& told) { told.jitter = -1; }),
              ThrowsMessage<ConfigError>(HasSubstr("--jitter -1")));
  EXPECT_THAT(refusal_of([](ConditionOverride& told) { told.link_mbit = -5; }),
              ThrowsMessage<ConfigError>(HasSubstr("--link -5")));
  EXPECT_THAT(refusal_of([](ConditionOverride& told) { told.topology = "torus:0x4"; }),
              ThrowsMessage<ConfigError>(HasSubstr("--topology")));
  EXPECT_THAT(refusal_of([](ConditionOverride& told) { told.partition = "dirichlet:x"; }),
              ThrowsMessage<ConfigError>(HasSubstr("--partition")));
}

struct Bad {
  const char* what;
  std::string from, to;
  std::string line, key;
};
void PrintTo(const Bad& bad, std::ostream* out) {
  *out << bad.what;
}
class BadSpecTest : public ::testing::TestWithParam<Bad> {};

INSTANTIATE_TEST_SUITE_P(
    Kinds, BadSpecTest,
    ::testing::Values(
        Bad{"UnknownStrategy", "\"allreduce\"", "\"allreduse\"", ":11:", "allreduse"},
        Bad{"NameThatIsAPath", "name = \"good\"", "name = \"a/b\"", ":1:", "leave out '/'"},
        Bad{"UnknownMode", "bounded:3", "bounded:x", ":13:", "name"},
        Bad{"PartsInLockStep", "\"stencil-bounded:3\"", "\"stencil-sync\"\ncodec = \"topk:0.01\"",
            ":14:", "topk:0.01"},
        Bad{"BucketsOfLocal", "\"allreduce\"", "\"local\"\nbucket_kib = 64",
            ":12:", "no use for it"},
        Bad{"SweepsOfAllReduce", "\"allreduce\"", "\"allreduce\"\nsweeps = 3",
            ":12:", "no use for it"},
        Bad{"OverlapWhereNobodyListens", "\"stencil-bounded:3\"",
            "\"stencil-bounded:3\"\noverlap = true", ":14:", "in the middle of a step"},
        Bad{"CodecOfAllReduce", "\"allreduce\"", "\"allreduce\"\ncodec = \"int8\"",
            ":12:", "no use for it"},
        Bad{"SeedTwice", "[1, 2]", "[1, 2, 1]", ":2:", "seeds"},
        Bad{"NoSeedInCommon", "slow = {", "seeds = [1]\nslow = {", ":15:", "no seed in common"},
        Bad{"NoSeeds", "[7]", "[]", ":14:", "seeds"},
        Bad{"ConditionTwice", "name = \"slow\"", "name = \"uniform\"", ":8:", "uniform"},
        Bad{"StrategyTwice", "\"stencil-bounded:3\"",
            "\"allreduce\"\n[[strategy]]\nname = \"allreduce\"", ":13:", "allreduce"},
        Bad{"StrategyTwiceWithTheSweepsThatItIsGiven", "\"stencil-bounded:3\"\nseeds = [7]",
            "\"stencil-async\"\nseeds = [7]\n[[strategy]]\nname = \"stencil-async\"\n"
            "sweeps = 2\nseeds = [7]",
            ":16:", "stencil-async"},
        Bad{"UnknownData", "epochs = 3", "data = \"imagenet\"", ":4:", "imagenet"},
        Bad{"LingerOfAllReduce", "\"allreduce\"", "\"allreduce\"\nlinger = 0.1",
            ":12:", "no use for it"},
        Bad{"StatisticsOfAllReduce", "\"allreduce\"", "\"allreduce\"\nbuffers = \"mix\"",
            ":12:", "mixes none"},
        Bad{"CorrectionOfAllReduce", "\"allreduce\"", "\"allreduce\"\nmomentum_correction = 0.5",
            ":12:", "averages no models"},
        Bad{"UnknownKey", "epochs = 3", "epoch = 3", ":4:", "epoch"},
        Bad{"ContradictingWorkers", "name = \"slow\"", "name = \"slow\"\nworkers = 9",
            ":9:", "workers"},
        Bad{"RankOutside", "\"1\" = 4", "\"4\" = 4", ":9:", "4"},
        Bad{"RankInWords", "\"1\" = 4", "\"1x\" = 4", ":9:", "1x"},
        Bad{"NegativeLink", "name = \"slow\"", "name = \"slow\"\nlink_mbit = -1",
            ":9:", "link_mbit"},
        Bad{"UnknownPartition", "name = \"slow\"", "name = \"slow\"\npartition = \"odd\"",
            ":9:", "partition"},
        Bad{"FactorBelowOne", "\"1\" = 4", "\"1\" = 0.5", ":9:", "1"},
        Bad{"WrongType", "epochs = 3", "epochs = \"three\"", ":4:", "epochs"},
        Bad{"UnknownModel", "epochs = 3", "model = \"resnet9\"", ":4:", "resnet9"},
        Bad{"UnknownCondition", "[\"slow\"]", "[\"slaw\"]", ":15:", "conditions"},
        Bad{"NoToml", "[job]", "[job", ":3:", "good.toml"},
        Bad{"VirtualWithoutStepTime", "name = \"slow\"", "name = \"slow\"\ntime = \"virtual\"",
            ":9:", "step_seconds"},
        Bad{"UnknownTime", "name = \"slow\"", "name = \"slow\"\ntime = \"later\"",
            ":9:", "stand-in"},
        Bad{"TuningByNoRate", "[job]", "[tune]\nlearning_rates = [0]\n[job]",
            ":4:", "learning_rates"},
        Bad{"UnseenOfAll", "epochs = 3", "unseen = 10", ":4:", "unseen"},
        Bad{"UnseenInRealTime", "epochs = 3", "examples = 100\nunseen = 10", ":5:", "unseen"},
        Bad{"TuningByUnseen", "[job]\nepochs = 3",
            "[time]\nkind = \"virtual\"\nstep_seconds = 1\n[tune]\nlearning_rates = [0.1]\n"
            "[job]\nvalidation = 10\nexamples = 100\nunseen = 10",
            ":11:", "unseen"},
        Bad{"TuningWithoutValidation", "[job]", "[tune]\nlearning_rates = [0.1]\n[job]",
            ":4:", "learning_rates"}),
    [](const auto& info) { return info.param.what; });

TEST_P(BadSpecTest, NamesFileLineAndKey) {
  std::string text = kGood;
  text.replace(text.find(GetParam().from), GetParam().from.size(), GetParam().to);
  EXPECT_THAT([&] { (void)parse_spec(text, "good.toml"); },
              ThrowsMessage<ConfigError>(
                  AllOf(HasSubstr("good.toml" + GetParam().line), HasSubstr(GetParam().key))));
}

}  // namespace
}  // namespace fast::compare
