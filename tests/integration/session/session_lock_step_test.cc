// Mode sync: what it computes, bit by bit.
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "stencil/core/mixing_weights.h"
#include "stencil/core/topology.h"
#include "tests/integration/session/session_fixture.h"

namespace fast {
namespace {

TEST_F(SessionTest, LockStepIsWhatMatrixAlgebraSays) {
  constexpr int kSteps = 40;
  for (const char* const name : {"ring:2", "ring:5", "torus:2x3", "grid:2x3"}) {
    const auto topology = stencil::Topology::parse(name);
    const stencil::MixingWeights weights(topology);
    const int n = topology.size();
    std::vector<std::unique_ptr<Quadratic>> workers;
    for (int rank = 0; rank < n; ++rank) workers.push_back(std::make_unique<Quadratic>(rank));
    std::vector<std::vector<double>> expected(static_cast<std::size_t>(n),
                                              std::vector<double>(kSize, 0.5));
    for (int step = 0; step < kSteps; ++step) {
      auto half = expected;
      for (std::size_t k = 0; k < half.size(); ++k) {
        for (std::size_t i = 0; i < kSize; ++i) {
          half[k][i] -= static_cast<double>(kRate) * (half[k][i] - workers[k]->target[i]);
        }
      }
      for (int a = 0; a < n; ++a) {
        for (std::size_t i = 0; i < kSize; ++i) {
          double sum = 0;
          for (int b = 0; b < n; ++b) {
            sum += weights.weight(a, b) * half[static_cast<std::size_t>(b)][i];
          }
          expected[static_cast<std::size_t>(a)][i] = sum;
        }
      }
    }
    in_threads(n, [&](int rank) {
      Quadratic& worker = *workers[static_cast<std::size_t>(rank)];
      Session session(worker.adapter, options(name, rank, "sync"));
      for (int step = 0; step < kSteps; ++step) {
        worker.step();
        session.exchange({.samples = 1, .loss = 1});
      }
      session.finish();
    });
    for (std::size_t k = 0; k < workers.size(); ++k) {
      for (std::size_t i = 0; i < kSize; ++i) {
        ASSERT_NEAR(workers[k]->x[i], expected[k][i], 1e-5) << name << ", worker " << k;
      }
    }
    network_ = std::make_shared<stencil::InprocNetwork>();
  }
}

/// Lock step never shares memory, so allowing it must change nothing. This checks that, and that
/// the bits do not depend on the transport.
TEST_F(SessionTest, LockStepSharesNoMemoryAndIsTheSameToTheBitHoweverItsFramesTravel) {
  constexpr int kWorkers = 6;
  std::string folder = ::testing::TempDir() + "fast-lock-step-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  std::vector<std::vector<float>> first;
  for (const std::string way : {"inproc", "sockets", "sockets, shared memory forbidden"}) {
    std::vector<std::unique_ptr<Quadratic>> workers;
    for (int rank = 0; rank < kWorkers; ++rank)
      workers.push_back(std::make_unique<Quadratic>(rank));
    in_threads(kWorkers, [&](int rank) {
      Quadratic& worker = *workers[static_cast<std::size_t>(rank)];
      SessionOptions o = options("torus:2x3", rank, "sync");
      if (way != "inproc") {
        o.inproc = nullptr;
        o.listen = "ipc://" + folder + "/" + std::to_string(rank);
        o.peer_template = "ipc://" + folder + "/{rank}";
        if (way != "sockets") o.exchange.share_memory = "never";
      }
      Session session(worker.adapter, o);
      for (int step = 0; step < 40; ++step) {
        worker.step();
        session.exchange({.samples = 1, .loss = 1});
      }
      session.finish();
      for (const auto& neighbour : session.status().neighbours) {
        EXPECT_FALSE(neighbour.shared) << way;
      }
    });
    std::vector<std::vector<float>> models;
    for (const auto& worker : workers) models.push_back(worker->x);
    if (first.empty()) first = models;
    EXPECT_TRUE(models == first) << way;
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace fast
