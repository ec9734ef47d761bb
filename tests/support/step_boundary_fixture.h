#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stencil/mix/codecs/kinds.h"
#include "stencil/runtime/step_boundary.h"
#include "tests/support/codec_cases.h"
#include "tests/support/engine_pair.h"

namespace stencil {

/// A model of two buckets of 100 values, all 1, and a neighbour's of all 3. What the network comes
/// to is in status_.
class StepBoundaryTest : public testing::Test {
 protected:
  explicit StepBoundaryTest(const std::string& mode = "async") {
    ExchangeOptions options;
    options.mode = mode;
    options.phase_lock = 0;
    options.linger = 1e-6;  // too little for sweeps: pauses last Linger::kQuick, or not at all
    boundary_.emplace(ours_, options, 0.5, [this] { return now_; });
    status_.joined = true;
  }

  /// Averages a bucket with the neighbour's, as the background work does between two folds.
  void average(std::uint32_t bucket) {
    Bytes offer(400), reply(400);
    ASSERT_TRUE(theirs_.offer(bucket, *codec_, offer).applied);
    ASSERT_TRUE(ours_.answer(bucket, *codec_, offer, 2, reply).applied);
    theirs_.close_request(bucket);
  }
  /// The background work adopts the neighbour's model.
  void adopt() {
    Bytes bytes(400);
    for (const std::uint32_t bucket : {0, 1}) {
      ASSERT_TRUE(theirs_.copy(bucket, bytes).applied);
      ASSERT_TRUE(ours_.adopt(bucket, bytes).applied);
    }
    ++status_.adopted;
  }
  /// What a step of the training thread does.
  void step(float by) {
    for (float& value : x_) value += by;
    now_ += std::chrono::milliseconds(100);
  }
  bool over() { return boundary_->over(status_); }
  bool advance() { return boundary_->advance(x_, scalars_); }
  /// The step is complete, and shown.
  bool show() {
    boundary_->reach();
    EXPECT_TRUE(over());
    return advance();
  }
  /// From there to the next step. Pauses last as long as they may.
  bool leave() {
    bool finite = true;
    while (!boundary_->passed()) {
      if (boundary_->phase() == StepBoundary::Phase::kPause) now_ = boundary_->pauses().until();
      EXPECT_TRUE(over());
      finite &= advance();
    }
    return finite;
  }
  /// From now on each boundary pauses, since there is a neighbour to exchange with.
  void meet() {
    pair_.meet();
    boundary_->pauses().note(now_, pair_.pump(0).engine());
    EXPECT_TRUE(show() && leave());
    step(0);
  }

  TimePoint now_{};
  PumpStatus status_;
  std::vector<float> x_ = std::vector<float>(200, 1.0F);
  std::vector<double> scalars_ = {0};
  Mixer ours_{Layout::flat(200, 100), x_, scalars_};
  Mixer theirs_{Layout::flat(200, 100), std::vector<float>(200, 3.0F), scalars_};
  std::unique_ptr<EdgeCodec> codec_ = make_edge_codec(parse_codec("fp32"), ours_.layout(), x_);
  test::EnginePair pair_;
  std::optional<StepBoundary> boundary_;
};

}  // namespace stencil
