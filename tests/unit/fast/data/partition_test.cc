#include "fast/data/partition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string>

#include "fast/errors.h"
#include "stencil/core/random.h"

namespace fast {
namespace {

using stencil::Random;
using ::testing::HasSubstr;
using Labels = std::vector<std::uint32_t>;

Labels random_labels(std::size_t count, std::uint64_t classes, std::uint64_t seed) {
  Random random(seed);
  Labels labels(count);
  for (auto& label : labels) label = static_cast<std::uint32_t>(random.below(classes));
  return labels;
}

/// FNV-1a over the shards with their lengths.
std::uint64_t hash_of(const Labels& labels, const std::string& spec, int workers,
                      std::uint64_t seed) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  const auto add = [&](std::uint64_t value) { hash = (hash ^ value) * 0x100000001b3ULL; };
  for (int rank = 0; rank < workers; ++rank) {
    const auto shard = partition(labels, spec, workers, rank, seed);
    add(shard.size());
    for (const auto index : shard) add(index);
  }
  return hash;
}

TEST(Partition, ShardsAreDisjointCoverEverythingAndNoneIsEmpty) {
  const auto seed = static_cast<std::uint64_t>(::testing::UnitTest::GetInstance()->random_seed());
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (int round = 0; round < 120; ++round) {
    const int workers = 1 + static_cast<int>(random.below(20));
    const std::size_t count = static_cast<std::size_t>(workers) + random.below(400);
    const Labels labels = random_labels(count, 1 + random.below(12), random.next());
    const std::uint64_t run = random.next();
    for (const std::string spec :
         {"iid", "by-label", "dirichlet:0.0001", "dirichlet:0.1", "dirichlet:1", "dirichlet:1e6"}) {
      SCOPED_TRACE(spec + ", " + std::to_string(count) + " examples, " + std::to_string(workers) +
                   " workers, seed " + std::to_string(run));
      std::vector<int> seen(count);
      for (int rank = 0; rank < workers; ++rank) {
        const auto shard = partition(labels, spec, workers, rank, run);
        ASSERT_FALSE(shard.empty());
        for (const auto index : shard) {
          ASSERT_LT(index, count);
          ++seen[index];
        }
      }
      ASSERT_TRUE(std::ranges::all_of(seen, [](int times) { return times == 1; }));
    }
  }
}

TEST(Partition, FewerExamplesThanWorkersAreRefusedWithWhatWouldDo) {
  const Labels labels = random_labels(3, 10, 1);
  for (const std::string spec : {"iid", "by-label", "dirichlet:0.5"}) {
    try {
      (void)partition(labels, spec, 4, 2, 1);
      ADD_FAILURE() << spec;
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), HasSubstr("3 training examples are too few for 4 workers"));
      EXPECT_THAT(error.what(), HasSubstr("partition own"));
    }
  }
  EXPECT_EQ(partition(labels, "own", 4, 2, 1).size(), 3U);
}

/// Recorded values. If these change, workers of two versions no longer agree on the shards.
TEST(Partition, ShardsAreTheSameOnEveryMachine) {
  Labels labels(1'000);
  for (std::size_t i = 0; i < labels.size(); ++i)
    labels[i] = static_cast<std::uint32_t>(i * 7 % 10);
  EXPECT_EQ(hash_of(labels, "iid", 6, 42), 7055553247470535407ULL);
  EXPECT_EQ(hash_of(labels, "by-label", 6, 42), 8850795616811880707ULL);
  EXPECT_EQ(hash_of(labels, "dirichlet:0.5", 6, 42), 17647521543263443425ULL);
  EXPECT_EQ(hash_of(labels, "dirichlet:0.01", 6, 42), 4437027562812996103ULL);
}

TEST(Partition, AnotherSeedGivesOtherShards) {
  const Labels labels = random_labels(500, 10, 1);
  for (const std::string spec : {"iid", "dirichlet:0.5"}) {
    EXPECT_EQ(hash_of(labels, spec, 4, 1), hash_of(labels, spec, 4, 1));
    EXPECT_NE(hash_of(labels, spec, 4, 1), hash_of(labels, spec, 4, 2));
  }
}

TEST(Partition, IidShardsHaveEqualSizesAndAllClasses) {
  const Labels labels = random_labels(50'000, 10, 1);
  for (int rank = 0; rank < 9; ++rank) {
    const auto shard = partition(labels, "iid", 9, rank, 1);
    EXPECT_NEAR(static_cast<double>(shard.size()), 50'000 / 9.0, 1);
    std::array<int, 10> counts{};
    for (const auto index : shard) ++counts.at(labels[index]);
    for (const int count : counts) EXPECT_NEAR(count, 555, 150);
  }
}

TEST(Partition, ByLabelGivesAWorkerFewClasses) {
  const Labels labels = random_labels(10'000, 10, 1);
  for (int rank = 0; rank < 10; ++rank) {
    const auto shard = partition(labels, "by-label", 10, rank, 1);
    std::array<bool, 10> has{};
    for (const auto index : shard) has.at(labels[index]) = true;
    EXPECT_LE(std::ranges::count(has, true), 3);
  }
}

/// Var of a share of Dirichlet(a) over n is (n - 1) / (n^2 (n a + 1)).
TEST(Partition, DirichletSharesHaveTheVarianceTheyShould) {
  constexpr int kWorkers = 4, kClasses = 100;
  constexpr std::size_t kPerClass = 1'000;
  Labels labels(kClasses * kPerClass);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    labels[i] = static_cast<std::uint32_t>(i / kPerClass);
  }
  for (const double alpha : {0.1, 1.0, 10.0}) {
    double squares = 0;
    for (int rank = 0; rank < kWorkers; ++rank) {
      std::array<double, kClasses> share{};
      for (const auto index :
           partition(labels, "dirichlet:" + std::to_string(alpha), kWorkers, rank, 7)) {
        share.at(labels[index]) += 1.0 / kPerClass;
      }
      for (const double part : share) squares += (part - 0.25) * (part - 0.25);
    }
    const double expected = (kWorkers - 1.0) / (kWorkers * kWorkers * (kWorkers * alpha + 1));
    EXPECT_NEAR(squares / (kWorkers * kClasses) / expected, 1, 0.25) << "alpha " << alpha;
  }
}

TEST(Partition, OwnIsEverythingInOrder) {
  const Labels labels = random_labels(50, 10, 1);
  const auto shard = partition(labels, "own", 4, 3, 9);
  ASSERT_EQ(shard.size(), 50U);
  for (std::uint32_t i = 0; i < 50; ++i) EXPECT_EQ(shard[i], i);
}

TEST(Partition, WrongSpecsNameTheValueAndTheForms) {
  const Labels labels = random_labels(50, 10, 1);
  for (const std::string spec :
       {"", "IID", "dirichlet", "dirichlet:", "dirichlet:0", "dirichlet:-1", "dirichlet:x",
        "dirichlet:1x", "dirichlet:nan", "dirichlet:inf", "by-label:2"}) {
    SCOPED_TRACE(spec);
    try {
      (void)partition(labels, spec, 4, 0, 1);
      ADD_FAILURE() << "no ConfigError was thrown";
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), HasSubstr("'" + spec + "'"));
      EXPECT_THAT(error.what(), HasSubstr("dirichlet:ALPHA"));
    }
  }
}

TEST(Partition, RanksOutsideTheWorkersAreRefused) {
  const Labels labels = random_labels(50, 10, 1);
  EXPECT_THROW((void)partition(labels, "iid", 4, 4, 1), ConfigError);
  EXPECT_THROW((void)partition(labels, "iid", 4, -1, 1), ConfigError);
  EXPECT_THROW((void)partition(labels, "iid", 0, 0, 1), ConfigError);
}

}  // namespace
}  // namespace fast
