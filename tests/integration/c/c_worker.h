#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "adapters/c/fast.h"

namespace fast::test {

/// A worker whose objective is |x - target|^2 / 2, through the C library alone.
struct Worker {
  explicit Worker(int rank) : session(fast_new()), x(5, 0.5F), target(5) {
    for (std::size_t i = 0; i < x.size(); ++i) target[i] = static_cast<float>(i + 1) * (rank + 1);
    set("topology", "ring:2");
    set("rank", std::to_string(rank));
    set("settle_target", "1e-6");
  }
  ~Worker() { fast_close(session); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void set(const char* key, const std::string& value) {
    EXPECT_EQ(fast_set(session, key, value.c_str()), FAST_OK) << fast_error(session);
  }
  void open() {
    const std::array<std::int64_t, 2> shape = {2, 2};
    fast_array(session, FAST_TRAINED, "matrix", "F32", 2, shape.data(), x.data());
    fast_array(session, FAST_TRAINED, "scalar", "F32", 0, nullptr, &x[4]);
    ASSERT_EQ(fast_open(session), FAST_OK) << fast_error(session);
  }
  void step() {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] -= 0.2F * (x[i] - target[i]);
  }

  fast_session* session;
  std::vector<float> x, target;
};

/// Opens two sessions that can reach each other, and runs `work` for each in a thread.
template <typename Work>
void both(Worker& first, Worker& second, Work work) {
  first.open();
  second.set("listen", "");
  second.set("peer", std::string("0=") + fast_endpoint(first.session));
  second.open();
  std::jthread other([&] { work(second); });
  work(first);
}

}  // namespace fast::test
