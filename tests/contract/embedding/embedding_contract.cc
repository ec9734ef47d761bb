#include "tests/contract/embedding/embedding_contract.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <latch>
#include <thread>

#include "fast/run/safetensors.h"

namespace fast::testing {
namespace {

using stencil::ElementType;
using ::testing::HasSubstr;

constexpr std::size_t kSize = 221;

std::vector<double> full_of(double value) {
  return std::vector<double>(kSize, value);
}

/// Two workers of a ring that can reach each other, both open.
struct Pair {
  explicit Pair(const EmbeddingCase& made)
      : first(made.make(made.types)), second(made.make(made.types)) {
    prepare(*first, 0);
    prepare(*second, 1);
  }
  static void prepare(EmbeddedWorker& worker, int rank) {
    EXPECT_EQ(worker.set("topology", "ring:2"), ExitCode::kOk) << worker.error();
    EXPECT_EQ(worker.set("rank", std::to_string(rank)), ExitCode::kOk);
    EXPECT_EQ(worker.set("listen", rank == 0 ? "127.0.0.1:0" : ""), ExitCode::kOk);
    EXPECT_EQ(worker.set("settle_target", "1e-6"), ExitCode::kOk);
    EXPECT_EQ(worker.set("start_deadline", "20"), ExitCode::kOk);
  }
  void open() {
    ASSERT_EQ(first->call(Call::kOpen), ExitCode::kOk) << first->error();
    ASSERT_EQ(second->set("peer", "0=" + first->endpoint()), ExitCode::kOk);
    ASSERT_EQ(second->call(Call::kOpen), ExitCode::kOk) << second->error();
  }
  template <typename Work>
  void both(Work work) {
    std::jthread other([&] { work(*second, 1); });
    work(*first, 0);
  }

  std::unique_ptr<EmbeddedWorker> first, second;
};

/// How far a model may be from the mean of two: the type's rounding of numbers below 4.
double tolerance(const std::vector<ElementType>& types) {
  double most = 1e-4;
  for (const ElementType type : types) {
    if (type == ElementType::kF16) most = std::max(most, std::ldexp(4, -11));
    if (type == ElementType::kBF16) most = std::max(most, std::ldexp(4, -8));
  }
  return most;
}

}  // namespace

TEST_P(EmbeddingContract, TwoWorkersAgreeOnTheMeanOfWhatTheyHave) {
  Pair pair(GetParam());
  pair.open();
  std::latch both_joined(2);  // what the other moves by then would be overwritten
  pair.both([&](EmbeddedWorker& worker, int rank) {
    const ExitCode joined = worker.call(Call::kJoin);
    both_joined.arrive_and_wait();
    ASSERT_EQ(joined, ExitCode::kOk) << worker.error();
    worker.write(full_of(rank == 0 ? 1 : 3.015625));
    ASSERT_EQ(worker.call(Call::kExchange), ExitCode::kOk) << worker.error();
    ASSERT_EQ(worker.call(Call::kFinish), ExitCode::kOk) << worker.error();
  });
  const double bound = tolerance(GetParam().types);
  const auto first = pair.first->read(), second = pair.second->read();
  for (std::size_t i = 0; i < kSize; ++i) {
    ASSERT_NEAR(first[i], 2.0078125, bound) << i;
    ASSERT_NEAR(second[i], 2.0078125, bound) << i;
  }
}

TEST_P(EmbeddingContract, AllBeginWithTheInitialWeightsOfRank0) {
  Pair pair(GetParam());
  for (const int rank : {0, 1}) {
    EmbeddedWorker& worker = rank == 0 ? *pair.first : *pair.second;
    worker.write(full_of(rank == 0 ? 0.1F : -3.25));
  }
  const auto lowest = pair.first->read();
  pair.open();
  pair.both([&](EmbeddedWorker& worker, int) {
    ASSERT_EQ(worker.call(Call::kJoin), ExitCode::kOk) << worker.error();
    EXPECT_EQ(worker.read(), lowest) << "bit for bit";
  });
}

TEST_P(EmbeddingContract, InitialWeightsThatDifferAreRefusedWhereTheyMustBeTheSame) {
  Pair pair(GetParam());
  for (EmbeddedWorker* const worker : {pair.first.get(), pair.second.get()}) {
    EXPECT_EQ(worker->set("initial", "same"), ExitCode::kOk) << worker->error();
    EXPECT_EQ(worker->set("start_deadline", "2"), ExitCode::kOk);
  }
  pair.second->write(full_of(1));
  pair.open();
  ExitCode codes[2] = {};
  pair.both([&](EmbeddedWorker& worker, int rank) { codes[rank] = worker.call(Call::kJoin); });
  EXPECT_TRUE(codes[0] == ExitCode::kRefused || codes[1] == ExitCode::kRefused);
  EXPECT_NE(pair.first->set("initial", "highest"), ExitCode::kOk);
}

TEST_P(EmbeddingContract, SavesWhatTheFrameworkHasInItsTypes) {
  Pair pair(GetParam());
  pair.open();
  pair.first->write(full_of(0.5));
  const std::string path = ::testing::TempDir() + "embedding_" + std::to_string(getpid());
  ASSERT_EQ(pair.first->save(path), ExitCode::kOk) << pair.first->error();
  const auto file = SafetensorsFile::open(path);
  unlink(path.c_str());
  const char* const names[] = {"a", "b", "c", "d"};
  for (std::size_t i = 0; i < 4; ++i) {
    const TensorView* const tensor = file.find(names[i]);
    ASSERT_NE(tensor, nullptr) << names[i];
    EXPECT_EQ(tensor->dtype, name(GetParam().types[i]));
  }
  EXPECT_EQ(file.find("a")->shape, (std::vector<std::int64_t>{3, 50}));
  EXPECT_EQ(file.metadata().at(kExchangedKey), R"(["a","b","c","d"])");
  ASSERT_EQ(pair.first->save("/proc/no/such/folder"), ExitCode::kFile);
  EXPECT_THAT(pair.first->error(), HasSubstr("; ")) << "cause; remedy";
}

TEST_P(EmbeddingContract, AModelThatIsNoNumberEndsWithItsCode) {
  Pair pair(GetParam());
  EXPECT_EQ(pair.first->set("start_deadline", "0.1"), ExitCode::kOk);
  ASSERT_EQ(pair.first->call(Call::kOpen), ExitCode::kOk) << pair.first->error();
  auto values = full_of(1);
  values[200] = std::nan("");
  pair.first->write(values);
  EXPECT_EQ(pair.first->call(Call::kExchange), ExitCode::kNonFinite);
  EXPECT_THAT(pair.first->error(), HasSubstr("lower the learning rate"));
}

TEST_P(EmbeddingContract, AnOptionThatIsNoneIsRefusedByName) {
  const auto worker = GetParam().make(GetParam().types);
  EXPECT_EQ(worker->set("phase_lok", "0.5"), ExitCode::kUsage);
  EXPECT_THAT(worker->error(), HasSubstr("phase_lock"));
  EXPECT_EQ(worker->set("rank", "5"), ExitCode::kOk);
  EXPECT_EQ(worker->call(Call::kOpen), ExitCode::kUsage);
  EXPECT_THAT(worker->error(), HasSubstr("rank 5 "));
}

// One of the two reports the difference; the other may notice it or not.
TEST_P(EmbeddingContract, AModelOfOtherTypesIsRefused) {
  EmbeddingCase other = GetParam();
  other.types[0] = other.types[0] == ElementType::kF32 ? ElementType::kBF16 : ElementType::kF32;
  Pair pair(GetParam());
  pair.second = other.make(other.types);
  Pair::prepare(*pair.second, 1);
  EXPECT_EQ(pair.first->set("start_deadline", "2"), ExitCode::kOk);
  EXPECT_EQ(pair.second->set("start_deadline", "2"), ExitCode::kOk);
  pair.open();
  ExitCode codes[2] = {};
  pair.both([&](EmbeddedWorker& worker, int rank) { codes[rank] = worker.call(Call::kJoin); });
  EXPECT_TRUE(codes[0] == ExitCode::kRefused || codes[1] == ExitCode::kRefused);
}

std::vector<EmbeddingCase> every_type(
    const std::function<std::unique_ptr<EmbeddedWorker>(const std::vector<ElementType>&)>& make) {
  std::vector<EmbeddingCase> cases;
  for (std::size_t i = 0; i < stencil::kElementTypes.size(); ++i) {
    cases.push_back({std::string(stencil::kElementTypes[i]),
                     std::vector<ElementType>(4, static_cast<ElementType>(i)), make});
  }
  cases.push_back({"mixed",
                   {ElementType::kBF16, ElementType::kF64, ElementType::kF16, ElementType::kF32},
                   make});
  return cases;
}

}  // namespace fast::testing
