#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "adapters/flat/flat_adapter.h"
#include "fast/session/session.h"
#include "stencil/transport/inproc/inproc_network.h"

namespace fast {

inline constexpr std::size_t kSize = 1000;
inline constexpr float kRate = 0.2F;

/// A worker whose objective is |x - target|^2 / 2.
struct Quadratic {
  explicit Quadratic(int rank) : target(kSize), x(kSize, 0.5F), adapter(x) {
    for (std::size_t i = 0; i < kSize; ++i) {
      target[i] = std::sin(static_cast<float>(i + 1) * static_cast<float>(rank + 1));
    }
  }
  void step() {
    for (std::size_t i = 0; i < kSize; ++i) x[i] -= kRate * (x[i] - target[i]);
  }
  std::vector<float> target, x;
  FlatAdapter adapter;
};

inline float distance(const std::vector<float>& a, const std::vector<float>& b) {
  float sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum / static_cast<float>(a.size()));
}

/// Sessions of one process, which meet in a network of the test's own.
class SessionTest : public ::testing::Test {
 protected:
  [[nodiscard]] SessionOptions options(const std::string& topology, int rank,
                                       const std::string& mode = "async") const {
    SessionOptions options;
    options.topology = topology;
    options.rank = rank;
    options.exchange.mode = mode;
    options.listen = "inproc://worker-" + std::to_string(rank);
    options.peer_template = "inproc://worker-{rank}";
    options.inproc = network_;
    options.exchange.start_deadline = options.exchange.wait_deadline = 300;  // not to be reached
    options.exchange.settle_deadline = 60;
    return options;
  }
  /// Each rank in a thread of its own; what one throws fails the test.
  static void in_threads(int workers, const std::function<void(int)>& work) {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < workers; ++rank) {
      threads.emplace_back([&work, rank] {
        try {
          work(rank);
        } catch (const std::exception& error) {
          ADD_FAILURE() << "worker " << rank << ": " << error.what();
        }
      });
    }
  }

  std::shared_ptr<stencil::InprocNetwork> network_ = std::make_shared<stencil::InprocNetwork>();
};

/// One of each kind. bounded:K stands for every K.
inline constexpr const char* kSessionModes[] = {"async", "bounded:2", "sync"};

/// "bounded" of "bounded:2": names of tests hold no colon.
inline std::string mode_name(const ::testing::TestParamInfo<const char*>& info) {
  const std::string mode = info.param;
  return mode.substr(0, mode.find(':'));
}

class SessionModeTest : public SessionTest, public ::testing::WithParamInterface<const char*> {};

}  // namespace fast
