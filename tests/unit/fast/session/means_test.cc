// Numbers that workers share by name, on a ring of workers that average by the telemetry's rules.
#include "fast/session/means.h"

#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "fast/errors.h"
#include "fast/options/mean_names.h"
#include "stencil/mix/telemetry.h"

namespace fast {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A worker's half of the telemetry, with one name.
struct Sharer {
  explicit Sharer(int workers) : means({"value"}, workers) {}
  void say(double value, double steps = 0) { means.say(0, value, steps, x); }
  [[nodiscard]] double read() const { return means.read(0, x); }
  [[nodiscard]] std::vector<std::byte> shown() const {
    std::vector<std::byte> out(x.size() * sizeof(double));
    stencil::telemetry::offer(y, p, out);
    return out;
  }
  void merge(std::span<const std::byte> ours, std::span<const std::byte> theirs) {
    constexpr double kAny = std::numeric_limits<double>::infinity();
    static constexpr std::array<double, 2> kMost = {kAny, kAny};
    stencil::telemetry::merge({y, p, kMost}, ours, theirs);
  }
  Means means;
  std::vector<double> x = {0, 0}, y = {0, 0}, p = {0, 0};
};

/// Workers of a ring of which some may be dead.
class Ring {
 public:
  explicit Ring(int workers) : workers_(static_cast<std::size_t>(workers), Sharer(workers)) {}
  Sharer& operator[](std::size_t rank) { return workers_[rank]; }
  [[nodiscard]] std::size_t size() const { return workers_.size(); }

  /// One step: each living worker averages with its next neighbour that lives, and folds.
  void step() {
    std::vector<std::size_t> living;
    for (std::size_t rank = 0; rank < size(); ++rank) {
      if (rank != dead) living.push_back(rank);
    }
    for (std::size_t i = 0; i < living.size(); ++i) {
      Sharer& one = workers_[living[i]];
      Sharer& other = workers_[living[(i + 1) % living.size()]];
      const auto ours = one.shown(), theirs = other.shown();
      one.merge(ours, theirs);
      other.merge(theirs, ours);
    }
    for (const std::size_t rank : living) {
      Sharer& one = workers_[rank];
      stencil::telemetry::fold(one.x, one.y, one.p);
      one.means.folded(/*heard=*/true, one.x);
    }
    ++steps;
  }
  void steps_of(int count) {
    for (int i = 0; i < count; ++i) step();
  }
  /// As many steps as it takes to average, and then more that change nothing.
  void epoch() {
    steps_of(50);
    steps += 950;
  }
  void expect(double mean, double within = 1e-9) const {
    for (std::size_t rank = 0; rank < size(); ++rank) {
      if (rank != dead) {
        EXPECT_NEAR(workers_[rank].read(), mean, within) << "rank " << rank;
      }
    }
  }

  static constexpr std::size_t kNobody = std::numeric_limits<std::size_t>::max();
  std::size_t dead = kNobody;
  double steps = 0;

 private:
  std::vector<Sharer> workers_;
};

TEST(Means, AreOfWhatEachWorkerSaidLast) {
  Ring ring(5);
  for (std::size_t rank = 0; rank < ring.size(); ++rank) ring[rank].say(100.0 + 7 * rank);
  ring.step();
  for (std::size_t rank = 0; rank < ring.size(); ++rank) ring[rank].say(1.0 + rank);
  ring.steps_of(200);
  ring.expect(3);
}

TEST(Means, OfNothingSaidAreNotANumber) {
  Ring ring(3);
  ring.steps_of(3);
  for (std::size_t rank = 0; rank < ring.size(); ++rank) EXPECT_TRUE(std::isnan(ring[rank].read()));
}

TEST(Means, WorkersThatSayNothingDoNotCount) {
  Ring ring(4);
  ring[1].say(2);
  ring[2].say(4);
  ring.steps_of(200);
  ring.expect(3);
  ring[0].say(9);  // begins late
  ring.steps_of(200);
  ring.expect(5);
}

TEST(Means, AWorkersOwnNewValueCountsAsOneWorkers) {
  Ring ring(4);
  for (std::size_t rank = 0; rank < ring.size(); ++rank) ring[rank].say(1);
  EXPECT_EQ(ring[0].read(), 1) << "alone so far";
  ring.steps_of(200);
  ring[0].say(5);
  EXPECT_NEAR(ring[0].read(), 2, 1e-9);
  EXPECT_NEAR(ring[1].read(), 1, 1e-9);
  ring.steps_of(200);
  ring.expect(2);
}

TEST(Means, WhoSaysMoreOftenCountsNoMore) {
  Ring ring(4);
  for (int step = 0; step < 4000; ++step) {
    for (std::size_t rank = 0; rank < ring.size(); ++rank) {
      const bool quick = rank == 0;
      if (quick || step % 50 == static_cast<int>(rank)) ring[rank].say(quick ? 8 : 0, ring.steps);
    }
    ring.step();
  }
  ring.expect(2, 0.1);
}

TEST(Means, WhatADeadWorkerSaidFades) {
  Ring ring(4);
  for (std::size_t rank = 0; rank < ring.size(); ++rank) ring[rank].say(rank == 3 ? 101 : 1);
  ring.steps_of(100);
  ring.expect(26);
  ring.dead = 3;
  ring.steps_of(100);
  ring.expect(26);
  for (int epoch = 0; epoch < 20; ++epoch) {
    for (std::size_t rank = 0; rank < 3; ++rank) ring[rank].say(1, ring.steps);
    ring.epoch();
  }
  ring.expect(1, 1e-2);
}

TEST(Means, OfAWorkerThatComesBackAreAsTheyWere) {
  Ring ring(4);
  for (std::size_t rank = 0; rank < ring.size(); ++rank) ring[rank].say(1.0 + rank);
  ring.steps_of(200);
  Sharer& back = ring[2];
  const std::vector<double> saved = back.x, given = back.means.given();
  EXPECT_THAT(given, ElementsAre(3.0));
  back = Sharer(4);
  back.means = Means({"value"}, 4, given, ring.steps);
  back.x = back.y = saved;
  ring.steps_of(200);
  ring.expect(2.5);
  back.say(7);
  ring.steps_of(200);
  ring.expect(3.5);
}

TEST(Means, OfAWorkerThatBeginsAnewComeRightAsOthersSayMore) {
  Ring ring(4);
  ring[0].say(50);  // the only one who says anything
  ring.steps_of(200);
  ring[0] = Sharer(4);
  for (int epoch = 0; epoch < 50; ++epoch) {
    ring[0].say(2, ring.steps);
    ring.epoch();
  }
  ring.expect(2, 1e-2);
}

TEST(Means, OfValuesThatAreNotFiniteAreThoseOfBefore) {
  Ring ring(2);
  ring[0].say(1);
  ring[1].say(3);
  ring[0].say(std::nan(""));
  ring[0].say(std::numeric_limits<double>::infinity());
  ring.steps_of(100);
  ring.expect(2);
}

TEST(Means, AreFoundByTheirNames) {
  const Means means(mean_names("val_loss,accuracy", "means"), 2);
  EXPECT_EQ(means.size(), 4U);
  EXPECT_EQ(means.find("accuracy"), 0U);
  EXPECT_EQ(means.find("val_loss"), 1U);
  try {
    (void)means.find("val_los");
    ADD_FAILURE() << "a name that is none";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no mean 'val_los' (did you mean val_loss?)"));
  }
}

TEST(MeanNames, AreAListWithoutRepetitions) {
  EXPECT_THAT(mean_names("", "means"), ElementsAre());
  EXPECT_THAT(mean_names("b,a", "means"), ElementsAre("a", "b"));
  for (const char* wrong : {",", "a,", ",a", "a,,b", "a,b,a"}) {
    EXPECT_THROW((void)mean_names(wrong, "means"), ConfigError) << wrong;
  }
  std::string many = "n0";
  for (int i = 1; i <= 64; ++i) many += ",n" + std::to_string(i);
  EXPECT_THROW((void)mean_names(many, "means"), ConfigError);
}

}  // namespace
}  // namespace fast
