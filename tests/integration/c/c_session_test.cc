#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "adapters/c/fast.h"
#include "fast/run/safetensors.h"
#include "tests/integration/c/c_worker.h"

namespace {

using fast::test::both;
using fast::test::Worker;
using ::testing::HasSubstr;

TEST(CSession, TwoSessionsOfOneProcessTrainAndAgree) {
  Worker first(0), second(1);
  first.set("budget", "2000");
  second.set("budget", "2000");
  both(first, second, [](Worker& worker) {
    ASSERT_EQ(fast_join(worker.session), FAST_OK) << fast_error(worker.session);
    while (!fast_done(worker.session)) {
      worker.step();
      ASSERT_EQ(fast_exchange(worker.session, 10, 1.5), FAST_OK) << fast_error(worker.session);
    }
    int agreed = -1;
    ASSERT_EQ(fast_finish(worker.session, &agreed), FAST_OK) << fast_error(worker.session);
    EXPECT_EQ(agreed, 1);
    EXPECT_GE(fast_progress(worker.session), 1);
    EXPECT_NEAR(fast_loss(worker.session), 1.5, 0.1);
    EXPECT_GT(fast_steps(worker.session), 0U);
    EXPECT_GT(fast_exchange_seconds(worker.session), 0);
  });
  for (std::size_t i = 0; i < first.x.size(); ++i) EXPECT_NEAR(first.x[i], second.x[i], 1e-3F);
}

/// A worker whose framework keeps its parameters somewhere else: as doubles and as bfloat16.
struct Device {
  explicit Device(int rank) : worker(rank) {
    const std::array<std::int64_t, 1> three = {3}, one = {1};
    fast_session* const session = worker.session;
    fast_array(session, FAST_TRAINED, "doubles", "F64", 1, three.data(), doubles);
    fast_array(session, FAST_TRAINED, "bf16", "BF16", 1, one.data(), &half);
    const auto pull = [](void* self, std::uint64_t first, std::uint64_t count) {
      return static_cast<Device*>(self)->pull(first, count);
    };
    const auto push = [](void* self, std::uint64_t first, std::uint64_t count) {
      return static_cast<Device*>(self)->push(first, count);
    };
    EXPECT_EQ(fast_set_transfers(session, pull, push, this), FAST_OK);
  }
  int pull(std::uint64_t first, std::uint64_t count) {
    for (auto i = first; i < first + count; ++i) {
      (i < 3 ? doubles[i] : whatever) = memory[i];
      if (i == 3) half = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(memory[3]) >> 16);
    }
    pulled += count;
    return fails ? 5 : 0;
  }
  int push(std::uint64_t first, std::uint64_t count) {
    for (auto i = first; i < first + count; ++i) {
      memory[i] =
          i < 3 ? static_cast<float>(doubles[i]) : std::bit_cast<float>(std::uint32_t{half} << 16);
    }
    pushed += count;
    return 0;
  }

  Worker worker;
  float memory[4] = {1, 1, 1, 1};  ///< the framework's memory
  double doubles[3] = {}, whatever = 0;
  std::uint16_t half = 0;
  std::uint64_t pulled = 0, pushed = 0;
  bool fails = false;
};

TEST(CSession, MemoryOfOtherTypesAndElsewhereIsExchanged) {
  Device first(0), second(1);
  ASSERT_EQ(fast_open(first.worker.session), FAST_OK) << fast_error(first.worker.session);
  second.worker.set("listen", "");
  second.worker.set("peer", std::string("0=") + fast_endpoint(first.worker.session));
  ASSERT_EQ(fast_open(second.worker.session), FAST_OK) << fast_error(second.worker.session);
  const auto work = [](Device& device, float value) {
    ASSERT_EQ(fast_join(device.worker.session), FAST_OK) << fast_error(device.worker.session);
    for (float& element : device.memory) element = value;
    ASSERT_EQ(fast_exchange(device.worker.session, 1, 0), FAST_OK);
    ASSERT_EQ(fast_finish(device.worker.session, nullptr), FAST_OK);
  };
  {
    std::jthread other([&] { work(second, 4); });
    work(first, 2);
  }
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR(first.memory[i], 3, i < 3 ? 1e-4 : 0.01) << i;
    EXPECT_NEAR(second.memory[i], 3, i < 3 ? 1e-4 : 0.01) << i;
  }
  EXPECT_EQ(first.pulled, first.pushed + 4) << "once more to begin with";
}

TEST(CSession, ATransferThatFailsEndsTheCall) {
  Device device(0);
  device.worker.set("start_deadline", "0.1");
  ASSERT_EQ(fast_open(device.worker.session), FAST_OK);
  device.fails = true;
  EXPECT_EQ(fast_exchange(device.worker.session, 1, 0), FAST_MODEL);
  EXPECT_THAT(fast_error(device.worker.session), HasSubstr("pull given to fast_set_transfers()"));
}

TEST(CSession, StatusNeighboursAndCountersAreTold) {
  Worker first(0), second(1);
  both(first, second, [](Worker& worker) {
    ASSERT_EQ(fast_join(worker.session), FAST_OK);
    ASSERT_EQ(fast_exchange(worker.session, 1, 0), FAST_OK);
    ASSERT_EQ(fast_finish(worker.session, nullptr), FAST_OK);
  });
  fast_status status{};
  EXPECT_EQ(fast_get_status(first.session, &status), FAST_USAGE) << "its size is not said";
  status.struct_size = sizeof status;
  ASSERT_EQ(fast_get_status(first.session, &status), FAST_OK);
  EXPECT_STREQ(status.state, "frozen");
  EXPECT_EQ(status.rank, 0);
  EXPECT_EQ(status.workers, 2);
  ASSERT_EQ(status.neighbours, 1);
  fast_neighbour neighbour{};
  neighbour.struct_size = sizeof neighbour;
  ASSERT_EQ(fast_get_neighbour(first.session, 0, &neighbour), FAST_OK);
  EXPECT_EQ(neighbour.rank, 1);
  EXPECT_STREQ(neighbour.link, "up");
  EXPECT_EQ(neighbour.other_grid, 0);
  EXPECT_EQ(fast_get_neighbour(first.session, 1, &neighbour), FAST_USAGE);
  std::map<std::string, std::uint64_t> counters;
  const auto add = [](void* context, const char* name, std::uint64_t value) {
    (*static_cast<decltype(counters)*>(context))[name] = value;
  };
  ASSERT_EQ(fast_counters(first.session, add, &counters), FAST_OK);
  EXPECT_GT(counters.at("frames_sent"), 0U);
}

/// A worker with a small allowance of data soon leaves for a while.
TEST(CSession, ANeighbourThatWillComeBackIsPaused) {
  Worker first(0), second(1);
  for (Worker* const worker : {&first, &second}) {
    worker->set("share_memory", "never");
    worker->set("sweeps", "4");
  }
  second.set("data_cap", "100kB/hour");
  std::atomic<bool> seen = false;
  both(first, second, [&](Worker& worker) {
    ASSERT_EQ(fast_join(worker.session), FAST_OK) << fast_error(worker.session);
    fast_neighbour neighbour{};
    neighbour.struct_size = sizeof neighbour;
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (!seen && std::chrono::steady_clock::now() < end) {
      worker.step();
      ASSERT_EQ(fast_exchange(worker.session, 1, 1.5), FAST_OK) << fast_error(worker.session);
      ASSERT_EQ(fast_get_neighbour(worker.session, 0, &neighbour), FAST_OK);
      if (&worker == &first && neighbour.link == std::string("paused")) seen = true;
    }
    EXPECT_TRUE(seen) << "of " << neighbour.rank << ": " << neighbour.link;
  });
}

TEST(CSession, AStructOfAnEarlierVersionIsFilledAsFarAsItGoes) {
  Worker worker(0);
  worker.open();
  struct {
    fast_status status;
    double behind;
  } seen{};
  seen.status.struct_size = offsetof(fast_status, rank);
  seen.status.rank = 77;
  ASSERT_EQ(fast_get_status(worker.session, &seen.status), FAST_OK);
  EXPECT_STREQ(seen.status.state, "joining");
  EXPECT_EQ(seen.status.rank, 77);
}

TEST(CSession, SavesParametersAndBuffersAndNamesWhatIsExchanged) {
  Worker worker(0);
  std::array<std::int64_t, 1> shape = {3};
  std::array<std::int64_t, 3> seen = {7, 8, 9};
  fast_array(worker.session, FAST_CARRIED, "seen", "I64", 1, shape.data(), seen.data());
  worker.open();
  const std::string path = ::testing::TempDir() + "c_session_" + std::to_string(getpid());
  ASSERT_EQ(fast_save_model(worker.session, path.c_str()), FAST_OK) << fast_error(worker.session);
  const auto file = fast::SafetensorsFile::open(path);
  ASSERT_NE(file.find("matrix"), nullptr);
  EXPECT_EQ(file.find("matrix")->shape, (std::vector<std::int64_t>{2, 2}));
  ASSERT_NE(file.find("seen"), nullptr);
  EXPECT_EQ(file.metadata().at(fast::kExchangedKey), R"(["matrix","scalar"])");
  unlink(path.c_str());
  EXPECT_EQ(fast_save_model(worker.session, "/proc/no/such/folder"), FAST_FILE);
  EXPECT_THAT(fast_error(worker.session), HasSubstr("; "));
}

TEST(CSession, CodesSayWhatIsWrongAndTextsTheRemedy) {
  Worker worker(0);
  fast_session* const session = worker.session;
  const std::array<std::int64_t, 1> shape = {5};
  EXPECT_STREQ(fast_error(session), "");
  EXPECT_EQ(fast_join(session), FAST_USAGE);
  EXPECT_THAT(fast_error(session), HasSubstr("call fast_open() first"));
  EXPECT_EQ(fast_set(session, "topologie", "ring:2"), FAST_USAGE);
  EXPECT_THAT(fast_error(session), HasSubstr("did you mean topology"));
  EXPECT_EQ(fast_set(session, nullptr, "ring:2"), FAST_USAGE);
  EXPECT_EQ(fast_array(session, FAST_TRAINED, "x", "F23", 1, shape.data(), worker.x.data()),
            FAST_USAGE);
  EXPECT_THAT(fast_error(session), HasSubstr("'F23'"));
  EXPECT_EQ(fast_array(session, FAST_TRAINED, "x", "F32", 1, shape.data(), nullptr), FAST_USAGE);
  EXPECT_EQ(fast_array(session, FAST_TRAINED, "x", "F32", 1, nullptr, worker.x.data()), FAST_USAGE);
  EXPECT_EQ(fast_set(session, "listen", "203.0.113.7:5555"), FAST_OK);
  EXPECT_EQ(fast_open(session), FAST_USAGE);
  EXPECT_THAT(fast_error(session), HasSubstr("insecure"));
  EXPECT_EQ(fast_set(session, "insecure", "true"), FAST_OK);
  EXPECT_EQ(fast_open(session), FAST_NETWORK);
  worker.set("listen", "127.0.0.1:0");
  worker.open();
  EXPECT_EQ(fast_open(session), FAST_USAGE);
  EXPECT_THAT(fast_error(session), HasSubstr("open already"));
  EXPECT_EQ(fast_set(session, "rank", "1"), FAST_USAGE);
}

TEST(CSession, NoSessionIsAnErrorAndNoCrash) {
  EXPECT_EQ(fast_open(nullptr), FAST_USAGE);
  EXPECT_EQ(fast_exchange(nullptr, 1, 0), FAST_USAGE);
  EXPECT_THAT(fast_error(nullptr), HasSubstr("fast_new()"));
  EXPECT_EQ(fast_done(nullptr), 0);
  EXPECT_STREQ(fast_endpoint(nullptr), "");
  fast_stop(nullptr);
  fast_close(nullptr);
}

TEST(CSession, ParametersThatAreNoNumbersEndTheSessionWithTheirCode) {
  Worker worker(0);
  worker.set("start_deadline", "0.1");
  worker.open();
  worker.x[3] = std::nanf("");
  EXPECT_EQ(fast_exchange(worker.session, 1, 0), FAST_NON_FINITE);
  EXPECT_THAT(fast_error(worker.session), HasSubstr("lower the learning rate"));
}

TEST(CSession, OtherInitialWeightsAreThoseOfRank0AndStatusTellsSo) {
  Worker first(0), second(1);
  second.x = {7, 8, 9, 10, 11};
  const std::vector<float> lowest = first.x;
  both(first, second, [&](Worker& worker) {
    ASSERT_EQ(fast_join(worker.session), FAST_OK) << fast_error(worker.session);
    EXPECT_EQ(worker.x, lowest);
    fast_status now{};
    now.struct_size = sizeof now;
    ASSERT_EQ(fast_get_status(worker.session, &now), FAST_OK);
    EXPECT_EQ(now.initial_from, &worker == &first ? -1 : 0);
    EXPECT_EQ(now.joined_from, -1);
  });
}

TEST(CSession, OtherInitialWeightsAreRefusedWhereTheyMustBeTheSame) {
  Worker first(0), second(1);
  first.set("initial", "same");
  second.set("initial", "same");
  second.x[0] = 7;
  std::atomic<int> refused = 0;
  both(first, second, [&](Worker& worker) {
    const fast_code code = fast_join(worker.session);
    if (code == FAST_REFUSED) ++refused;
    fast_stop(first.session);  // the end that refuses need not be refused too
    fast_stop(second.session);
  });
  EXPECT_GE(refused, 1);
}

TEST(CSession, StopEndsAWaitAndTheTraining) {
  Worker worker(0);
  worker.set("start_deadline", "1000");
  worker.open();
  std::jthread stopper([&] { fast_stop(worker.session); });
  EXPECT_EQ(fast_join(worker.session), FAST_OK);
  EXPECT_EQ(fast_done(worker.session), 1);
}

TEST(CSession, AWaitCallsTheGivenFunctionOnItsOwnThreadWhichMayStopIt) {
  Worker worker(0);
  worker.set("start_deadline", "1000");
  struct Seen {
    fast_session* session;
    std::thread::id thread;
    int calls = 0;
  } seen{worker.session, {}};
  const auto stop = [](void* context) {
    auto& told = *static_cast<Seen*>(context);
    told.thread = std::this_thread::get_id();
    if (++told.calls == 2) fast_stop(told.session);
  };
  ASSERT_EQ(fast_set_waiting(worker.session, stop, &seen), FAST_OK);
  worker.open();
  EXPECT_EQ(fast_join(worker.session), FAST_OK);
  EXPECT_EQ(fast_done(worker.session), 1);
  EXPECT_EQ(seen.calls, 2);
  EXPECT_EQ(seen.thread, std::this_thread::get_id());
  EXPECT_EQ(fast_set_waiting(worker.session, stop, &seen), FAST_USAGE);  // it is open
}

TEST(CSession, LinesOfTheLogCome) {
  Worker worker(0);
  worker.set("start_deadline", "0.1");
  std::vector<std::pair<fast_log_level, std::string>> lines;
  const auto keep = [](void* context, fast_log_level level, const char* line) {
    static_cast<decltype(lines)*>(context)->emplace_back(level, line);
  };
  ASSERT_EQ(fast_set_log(worker.session, keep, &lines), FAST_OK);
  worker.set("transport", "tcp");
  worker.open();
  ASSERT_EQ(fast_join(worker.session), FAST_OK);
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.back().first, FAST_LOG_WARNING);
  EXPECT_THAT(lines.back().second, HasSubstr("no neighbour (1) was reached"));
}

TEST(CSession, OptionsAreListedWithTheirValues) {
  Worker worker(1);
  std::map<std::string, std::string> values;
  const auto keep = [](void* context, const char* key, const char* value, const char* help) {
    EXPECT_STRNE(help, "") << key;
    (*static_cast<decltype(values)*>(context))[key] = value;
  };
  ASSERT_EQ(fast_options(worker.session, keep, &values), FAST_OK);
  EXPECT_EQ(values.at("rank"), "1");
  EXPECT_EQ(values.at("sweeps"), "auto");
  EXPECT_EQ(values.at("overlap"), "true");
}

TEST(CSession, OptionsComeFromTheEnvironmentToo) {
  fast_session* const session = fast_new();
  setenv("FAST_TOPOLOGY", "ring:3", 1);
  setenv("FAST_CODEC", "int8", 1);
  EXPECT_EQ(fast_set_from_environment(session), FAST_USAGE);
  EXPECT_THAT(fast_error(session), HasSubstr("FAST_RANK"));
  setenv("FAST_RANK", "2", 1);
  EXPECT_EQ(fast_set_from_environment(session), FAST_OK) << fast_error(session);
  for (const char* const name : {"FAST_TOPOLOGY", "FAST_CODEC", "FAST_RANK"}) unsetenv(name);
  EXPECT_EQ(fast_set(session, "codec", "fp16"), FAST_OK);
  std::map<std::string, std::string> values;
  const auto keep = [](void* context, const char* key, const char* value, const char*) {
    (*static_cast<decltype(values)*>(context))[key] = value;
  };
  EXPECT_EQ(fast_options(session, keep, &values), FAST_OK);
  EXPECT_EQ(values.at("topology"), "ring:3");
  EXPECT_EQ(values.at("rank"), "2");
  EXPECT_EQ(values.at("codec"), "fp16");
  fast_close(session);
  EXPECT_EQ(fast_set_from_environment(nullptr), FAST_USAGE);
}

TEST(CSession, AChildOfForkCanOnlyCloseASessionOfItsParent) {
  Worker worker(0);
  worker.open();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool refused = fast_exchange(worker.session, 1, 0) == FAST_USAGE;
    fast_close(worker.session);
    _exit(refused ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  fast_status now{};
  now.struct_size = sizeof now;
  EXPECT_EQ(fast_get_status(worker.session, &now), FAST_OK) << "the parent's goes on";
}

}  // namespace
