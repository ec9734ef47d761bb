// A program that is started again after its session had finished: all is agreed already.
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "fast/checkpoint/checkpoint.h"
#include "fast/options/peers.h"
#include "tests/integration/session/session_fixture.h"
#include "tests/support/cifar_files.h"

namespace fast {
namespace {

class FinishedBefore : public SessionTest {
 protected:
  [[nodiscard]] SessionOptions kept(int rank) const {
    SessionOptions of = options("ring:2", rank);
    of.checkpoint = of.resume = (folder_.path() / "c-{rank}.safetensors").string();
    of.budget = 200;
    return of;
  }
  void finish_both() {
    in_threads(2, [this](int rank) {
      Quadratic worker(rank);
      Session session(worker.adapter, kept(rank));
      while (!session.done()) {
        worker.step();
        session.exchange({.samples = 1, .loss = 1});
      }
      EXPECT_EQ(session.finish(), Agreement::kAgreed);
      if (rank == 1) model_ = worker.x;
    });
  }
  /// As rank 1 may know it that others brought the run to its end: a little less than the whole.
  void know_less() const {
    const std::string file = for_rank(kept(1).checkpoint, 1);
    {
      const Checkpoint saved(file);
      std::vector<std::vector<std::byte>> bytes;
      std::vector<NamedTensor> tensors;
      for (const TensorView& tensor : saved.tensors()) {
        bytes.emplace_back(tensor.bytes.begin(), tensor.bytes.end());
        if (tensor.name == "session/scalars") {
          double share = 0;
          std::memcpy(&share, bytes.back().data() + sizeof share, sizeof share);
          ASSERT_NEAR(share, 1, 0.1);
          share = 0.999;
          std::memcpy(bytes.back().data() + sizeof share, &share, sizeof share);
        }
        tensors.push_back({tensor.name, tensor.dtype, tensor.shape, bytes.back()});
      }
      write_checkpoint(file, tensors, saved.terms());
    }
  }
  std::vector<float> model_;  ///< that rank 1 came to
  ::fast::testing::TemporaryFolder folder_;
};

TEST_F(FinishedBefore, NeedsNobodyToEndWell) {
  finish_both();
  Quadratic worker(1);
  Session session(worker.adapter, kept(1));  // start_deadline is not to be reached
  session.join();
  EXPECT_TRUE(session.done());
  EXPECT_EQ(session.finish(), Agreement::kAgreed);
  EXPECT_EQ(worker.x, model_);
}

TEST_F(FinishedBefore, IsDoneHoweverExactlyItKnewTheEnd) {
  finish_both();
  know_less();
  Quadratic worker(1);
  Session session(worker.adapter, kept(1));
  EXPECT_TRUE(session.done());
  EXPECT_GE(session.progress(), kWholeRun);
  EXPECT_EQ(session.finish(), Agreement::kAgreed);
  EXPECT_EQ(worker.x, model_);
}

/// Whoever was asked to stop early goes on.
TEST_F(FinishedBefore, IsNotSoWhereTheRunWasStoppedOnTheWay) {
  in_threads(2, [this](int rank) {
    Quadratic worker(rank);
    Session session(worker.adapter, kept(rank));
    worker.step();
    session.exchange({.samples = 1, .loss = 1});
    EXPECT_EQ(session.finish(), Agreement::kAgreed);
  });
  Quadratic worker(1);
  Session session(worker.adapter, kept(1));
  EXPECT_EQ(session.steps(), 1);
  EXPECT_FALSE(session.done());
  EXPECT_EQ(session.finish(), Agreement::kAlone);
}

TEST_F(FinishedBefore, AndTrainsOnItAgreesAnew) {
  finish_both();
  in_threads(2, [this](int rank) {
    Quadratic worker(rank);
    Session session(worker.adapter, kept(rank));
    worker.step();
    session.exchange({.samples = 1, .loss = 1});
    EXPECT_EQ(session.finish(), Agreement::kAgreed);
    EXPECT_TRUE(session.status().has_exchanged());
  });
}

}  // namespace
}  // namespace fast
