#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include "adapters/c/fast.h"

namespace {

/// Variables of the environment for the time of a test.
class Variables {
 public:
  explicit Variables(std::map<std::string, std::string> variables)
      : variables_(std::move(variables)) {
    for (const auto& [name, value] : variables_) setenv(name.c_str(), value.c_str(), 1);
  }
  ~Variables() {
    for (const auto& [name, value] : variables_) unsetenv(name.c_str());
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;

 private:
  std::map<std::string, std::string> variables_;
};

std::map<std::string, std::string> options_of(const fast_session* session) {
  std::map<std::string, std::string> options;
  const auto visit = [](void* all, const char* key, const char* value, const char*) {
    (*static_cast<std::map<std::string, std::string>*>(all))[key] = value;
  };
  EXPECT_EQ(fast_options(session, visit, &options), FAST_OK);
  return options;
}

TEST(CEnvironment, WhatWasSetWinsOverTheEnvironment) {
  const Variables variables({{"FAST_CODEC", "int8"},
                             {"FAST_MODE", "sync"},
                             {"OMPI_COMM_WORLD_RANK", "7"},
                             {"OMPI_COMM_WORLD_SIZE", "4"}});
  fast_session* const session = fast_new();
  fast_set(session, "topology", "ring:4");
  fast_set(session, "codec", "fp16");
  fast_set(session, "rank", "2");
  EXPECT_EQ(fast_set_from_environment(session), FAST_OK) << fast_error(session);
  fast_set(session, "mode", "async");
  auto options = options_of(session);
  EXPECT_EQ(options["topology"], "ring:4");
  EXPECT_EQ(options["codec"], "fp16");
  EXPECT_EQ(options["rank"], "2") << "set, so that no launcher is asked";
  EXPECT_EQ(options["mode"], "async");
  fast_close(session);
}

TEST(CEnvironment, ALauncherCountsTheWorkersOfTheTopologyThatWasSet) {
  const Variables variables({{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "4"}});
  fast_session* const session = fast_new();
  fast_set(session, "topology", "ring:4");
  EXPECT_EQ(fast_set_from_environment(session), FAST_OK) << fast_error(session);
  EXPECT_EQ(options_of(session)["rank"], "3");
  fast_close(session);
}

TEST(CEnvironment, AMisspeltVariableIsWarnedOfWhenTheSessionOpens) {
  const Variables variables(std::map<std::string, std::string>{{"FAST_TOPOLGY", "ring:2"}});
  fast_session* const session = fast_new();
  std::string said;
  const auto log = [](void* all, fast_log_level level, const char* line) {
    if (level == FAST_LOG_WARNING) static_cast<std::string*>(all)->append(line);
  };
  EXPECT_EQ(fast_set_from_environment(session), FAST_OK) << fast_error(session);
  EXPECT_EQ(fast_set_log(session, log, &said), FAST_OK);
  float x = 0;
  fast_array(session, FAST_TRAINED, "x", "F32", 0, nullptr, &x);
  EXPECT_EQ(fast_open(session), FAST_OK) << fast_error(session);
  fast_close(session);
  EXPECT_NE(said.find("did you mean FAST_TOPOLOGY?"), std::string::npos) << said;
}

/// Two workers of a torus:2x2, say, which would wait for two others.
TEST(CEnvironment, ATopologyOtherThanThatOfWhoeverStartedTheProgramIsRefused) {
  const Variables variables({{"FAST_TOPOLOGY", "ring:2"}, {"FAST_RANK", "1"}});
  fast_session* const session = fast_new();
  fast_set(session, "topology", "torus:2x2");
  EXPECT_EQ(fast_set_from_environment(session), FAST_USAGE);
  const std::string error = fast_error(session);
  EXPECT_NE(error.find("torus:2x2"), std::string::npos) << error;
  EXPECT_NE(error.find("FAST_TOPOLOGY is ring:2"), std::string::npos) << error;
  fast_set(session, "topology", "ring:2");
  EXPECT_EQ(fast_set_from_environment(session), FAST_OK) << fast_error(session);
  fast_close(session);
}

}  // namespace
