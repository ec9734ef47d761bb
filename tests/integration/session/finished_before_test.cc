// A program that is started again after its session had finished: all is agreed already.
#include <filesystem>
#include <string>

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
