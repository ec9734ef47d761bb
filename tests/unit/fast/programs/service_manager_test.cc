// What a service manager hears of a worker: sd_notify(3).
#include "fast/programs/service_manager.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <map>
#include <string>

#include "fast/programs/watched_learner.h"
#include "tests/support/cifar_files.h"
#include "tests/support/service_socket.h"

namespace fast::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Environment environment(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    const auto it = variables.find(name);
    return it == variables.end() ? std::nullopt : std::optional(it->second);
  };
}

class ServiceManagerTest : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
  ServiceSocket socket_{(folder_.path() / "notify").string()};
};

TEST_F(ServiceManagerTest, TheFirstSignOfLifeSaysThatTheServiceHasStarted) {
  ServiceManager manager(environment({{"NOTIFY_SOCKET", socket_.name()}}));
  EXPECT_THAT(socket_.told(), IsEmpty());
  manager.alive();
  manager.alive();
  EXPECT_THAT(socket_.told(), ElementsAre("READY=1"));
}

TEST_F(ServiceManagerTest, AWatchdogHearsOfEachQuarterOfItsTime) {
  const std::string own = std::to_string(::getpid());
  ServiceManager manager(environment(
      {{"NOTIFY_SOCKET", socket_.name()}, {"WATCHDOG_USEC", "1"}, {"WATCHDOG_PID", own}}));
  manager.alive();
  manager.alive();
  EXPECT_THAT(socket_.told(), ElementsAre("READY=1", "WATCHDOG=1", "WATCHDOG=1"));
  ServiceManager hourly(
      environment({{"NOTIFY_SOCKET", socket_.name()}, {"WATCHDOG_USEC", "3600000000"}}));
  hourly.alive();
  hourly.alive();
  EXPECT_EQ(socket_.told().size(), 5U);
}

TEST_F(ServiceManagerTest, AWatchdogOfAnotherProcessHearsNothing) {
  ServiceManager manager(environment(
      {{"NOTIFY_SOCKET", socket_.name()}, {"WATCHDOG_USEC", "1"}, {"WATCHDOG_PID", "1"}}));
  manager.alive();
  manager.alive();
  EXPECT_THAT(socket_.told(), ElementsAre("READY=1"));
}

TEST_F(ServiceManagerTest, AnUnusableTimeOfAWatchdogIsNone) {
  for (const char* const time : {"", "0", "-5", "soon", "1s"}) {
    ServiceManager manager(environment({{"NOTIFY_SOCKET", "/nobody"}, {"WATCHDOG_USEC", time}}));
    manager.alive();
  }
  EXPECT_THAT(socket_.told(), IsEmpty());
}

TEST_F(ServiceManagerTest, ItHearsLinesForPeopleAndOfTheEnd) {
  { ServiceManager(environment({{"NOTIFY_SOCKET", socket_.name()}})).status("step 5"); }
  EXPECT_THAT(socket_.told(), ElementsAre("STATUS=step 5", "STOPPING=1"));
}

TEST_F(ServiceManagerTest, ASocketMayHaveAnAbstractName) {
  ServiceSocket abstract("@fast-test-" + std::to_string(::getpid()));
  ServiceManager manager(environment({{"NOTIFY_SOCKET", abstract.name()}}));
  manager.alive();
  EXPECT_THAT(abstract.told(), ElementsAre("READY=1"));
}

TEST_F(ServiceManagerTest, WithoutAManagerOrWithASocketThatIsNoneNothingHappens) {
  for (const std::string& name : {std::string(), std::string("/nowhere"), std::string(200, 'x')}) {
    ServiceManager manager(environment({{"NOTIFY_SOCKET", name}}));
    manager.alive();
    manager.status("step 5");
  }
  ServiceManager none(environment({}));
  none.alive();
  EXPECT_THAT(socket_.told(), IsEmpty());
}

/// Does nothing, in time.
class IdleLearner final : public Learner {
 public:
  ModelAdapter& adapter() override { throw std::logic_error("not asked for here"); }
  void set_learning_rate(double /*rate*/) override {}
  StepResult train_step(const Batch& /*batch*/) override { return {.loss = 1, .correct = 2}; }
  StepResult evaluate(const Batch& /*batch*/) override { return {.loss = 3, .correct = 4}; }
  Statistics statistics() const override { return Statistics::kExchanged; }
  void begin_statistics() override {}
  void accumulate_statistics(const Batch& /*batch*/) override {}
};

TEST_F(ServiceManagerTest, EachBatchOfAWatchedLearnerIsASignOfLife) {
  ServiceManager manager(environment({{"NOTIFY_SOCKET", socket_.name()}, {"WATCHDOG_USEC", "1"}}));
  IdleLearner idle;
  WatchedLearner learner(idle, manager);
  EXPECT_EQ(learner.train_step({}).correct, 2U);
  EXPECT_EQ(learner.evaluate({}).loss, 3);
  learner.begin_statistics();
  learner.accumulate_statistics({});
  EXPECT_EQ(learner.statistics(), Statistics::kExchanged);
  EXPECT_THAT(socket_.told(), ElementsAre("READY=1", "WATCHDOG=1", "WATCHDOG=1", "WATCHDOG=1"));
}

}  // namespace
}  // namespace fast::testing
