#include <gmock/gmock.h>

#include <map>

#include "fast/errors.h"
#include "fast/programs/cli/rank.h"

namespace fast {
namespace {

Environment environment(std::map<std::string, std::string> variables) {
  return [variables](const std::string& name) -> std::optional<std::string> {
    const auto it = variables.find(name);
    return it == variables.end() ? std::nullopt : std::optional(it->second);
  };
}

TEST(RankTest, ASchedulersVariableWinsOverTheHostName) {
  EXPECT_EQ(detect_rank(environment({{"SLURM_PROCID", "7"}, {"OMPI_COMM_WORLD_RANK", "2"}}), "w-3"),
            7);
  EXPECT_EQ(detect_rank(environment({{"OMPI_COMM_WORLD_RANK", "2"}}), "w-3"), 2);
}

TEST(RankTest, TheHostNamesOrdinalIsTakenFromItsFirstLabel) {
  EXPECT_EQ(detect_rank(environment({}), "worker-3"), 3);
  EXPECT_EQ(detect_rank(environment({}), "my-worker-12.cluster.local"), 12);
}

TEST(RankTest, NoRankAnywhereIsAnErrorThatSaysWhereItWasLookedFor) {
  for (const char* const host : {"laptop", "worker-", "worker-3a", "node.site-4", ""}) {
    try {
      (void)detect_rank(environment({}), host);
      ADD_FAILURE() << host;
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr("SLURM_PROCID")) << host;
    }
  }
}

TEST(RankTest, AVariableThatIsNoNumberIsAnError) {
  EXPECT_THROW((void)detect_rank(environment({{"SLURM_PROCID", "x"}}), "worker-3"), ConfigError);
  EXPECT_THROW((void)detect_rank(environment({{"SLURM_PROCID", "-1"}}), "worker-3"), ConfigError);
}

}  // namespace
}  // namespace fast
