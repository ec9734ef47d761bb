#include "stencil/transport/backoff.h"

#include <gtest/gtest.h>

#include <chrono>

namespace stencil {
namespace {

using std::chrono::milliseconds;

TransportOptions usual() {
  TransportOptions options;
  options.reconnect_min = milliseconds(50);
  options.reconnect_max = milliseconds(200);
  return options;
}

TEST(Backoff, EachPauseIsUpToTwiceTheLastWithinItsBounds) {
  Random jitter(1);
  for (int i = 0; i < 100; ++i) {
    Backoff backoff(usual());
    for (const int whole : {50, 100, 200, 200}) {
      const Duration pause = backoff.pause(jitter);
      EXPECT_GE(pause, milliseconds(whole) / 2);
      EXPECT_LE(pause, milliseconds(whole));
    }
    backoff.restart();
    EXPECT_LE(backoff.pause(jitter), milliseconds(50));
  }
}

TEST(Backoff, WorkersThatLostOneTogetherComeBackOneByOne) {
  Random one(1), other(2);
  Backoff ones(usual()), others(usual());
  EXPECT_NE(ones.pause(one), others.pause(other));
}

}  // namespace
}  // namespace stencil
