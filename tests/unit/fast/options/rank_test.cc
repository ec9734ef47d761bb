#include "fast/options/rank.h"

#include <gmock/gmock.h>

#include <map>

#include "fast/errors.h"

namespace fast {
namespace {

Environment environment(std::map<std::string, std::string> variables) {
  return [variables](const std::string& name) -> std::optional<std::string> {
    const auto it = variables.find(name);
    return it == variables.end() ? std::nullopt : std::optional(it->second);
  };
}

/// Peers are named worker-K.
SessionOptions set_of_workers() {
  return {.peer_template = "tcp://worker-{rank}.svc.local:5555"};
}

/// As a program looks for its rank, which has to be somewhere.
FoundRank detect_rank(const Environment& environment, const std::string& host,
                      const SessionOptions& session, int workers) {
  const auto found = find_rank(environment, host, session, workers, stencil::as_flag);
  return found ? *found : throw no_rank(host, stencil::as_flag);
}

int rank_of(const std::map<std::string, std::string>& variables, const std::string& host,
            int workers = 16) {
  return detect_rank(environment(variables), host, set_of_workers(), workers).rank;
}

std::string error_of(const std::map<std::string, std::string>& variables, const std::string& host,
                     const SessionOptions& session, int workers = 16) {
  try {
    (void)detect_rank(environment(variables), host, session, workers);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(RankTest, EveryLaunchersVariableIsKnownAndWinsOverTheHostName) {
  for (const std::string name :
       {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID", "JOB_COMPLETION_INDEX"}) {
    const FoundRank found =
        detect_rank(environment({{name, "7"}}), "worker-3", set_of_workers(), 16);
    EXPECT_EQ(found.rank, 7) << name;
    EXPECT_EQ(found.source, name);
  }
  EXPECT_EQ(rank_of({{"RANK", "7"}, {"WORLD_SIZE", "16"}}, "worker-3"), 7);
  EXPECT_EQ(rank_of({{"RANK", "captain"}}, "worker-3"), 3) << "any program may use that name";
}

TEST(RankTest, WhoIsAloneIsRankZero) {
  EXPECT_EQ(rank_of({}, "node01", 1), 0);
  EXPECT_THAT(error_of({}, "node01", set_of_workers(), 2), ::testing::HasSubstr("no rank"));
}

TEST(RankTest, TheInnermostLauncherWins) {
  // A job of Slurm tells the shell that runs mpirun that it is process 0.
  EXPECT_EQ(rank_of({{"SLURM_PROCID", "0"}, {"OMPI_COMM_WORLD_RANK", "2"}}, "node01"), 2);
}

TEST(RankTest, AnotherNumberOfProcessesThanWorkersIsRefused) {
  const std::map<std::string, std::string> variables = {{"OMPI_COMM_WORLD_RANK", "2"},
                                                        {"OMPI_COMM_WORLD_SIZE", "8"}};
  EXPECT_EQ(rank_of(variables, "", 8), 2);
  EXPECT_THAT(error_of(variables, "", set_of_workers(), 4),
              ::testing::AllOf(::testing::HasSubstr("8 processes"),
                               ::testing::HasSubstr("OMPI_COMM_WORLD_SIZE"),
                               ::testing::HasSubstr("4 workers")));
}

TEST(RankTest, AHostsNameCountsWherePeersAreNamedLikeIt) {
  EXPECT_EQ(rank_of({}, "worker-3"), 3);
  EXPECT_EQ(rank_of({}, "worker-12.cluster.local"), 12);
  const SessionOptions one_named{.peers = {{1, "tcp://pod-1:5555"}}};
  EXPECT_EQ(detect_rank(environment({}), "pod-0", one_named, 2).rank, 0);
}

TEST(RankTest, ANameThatOnlyHappensToEndInANumberIsNoRank) {
  for (const char* const host : {"ip-10-0-0-3", "node01", "debian-12", "laptop", "worker-",
                                 "worker-3a", "node.worker-4", ""}) {
    EXPECT_THAT(error_of({}, host, set_of_workers()),
                ::testing::AllOf(::testing::HasSubstr("SLURM_PROCID"),
                                 ::testing::HasSubstr("JOB_COMPLETION_INDEX"),
                                 ::testing::HasSubstr("--rank")))
        << host;
  }
  EXPECT_NE(error_of({}, "worker-3", {}), "") << "without peers nothing says that it is of a set";
}

TEST(RankTest, AVariableThatIsNoNumberIsAnError) {
  EXPECT_THROW((void)rank_of({{"SLURM_PROCID", "x"}}, "worker-3"), ConfigError);
  EXPECT_THROW((void)rank_of({{"SLURM_PROCID", "-1"}}, "worker-3"), ConfigError);
}

}  // namespace
}  // namespace fast
