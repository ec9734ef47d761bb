#include "adapters/torch/models/blas.h"

#include <gmock/gmock.h>
#include <torch/torch.h>

#include <atomic>
#include <thread>
#include <vector>

#include "adapters/torch/models/torch_learner.h"

namespace fast {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Blas, TheReferenceIsNamedWithAQuickerPackage) {
  EXPECT_THAT(blas_advice("/usr/lib/aarch64-linux-gnu/blas/libblas.so.3.11.0"),
              AllOf(HasSubstr("/blas/libblas.so.3.11.0"), HasSubstr("libopenblas0-openmp")));
}

TEST(Blas, OneThatBearsNoThreadsIsNamed) {
  const std::filesystem::path serial = "/usr/lib/x86_64-linux-gnu/openblas-serial/libblas.so.3";
  EXPECT_FALSE(bears_threads(serial));
  EXPECT_THAT(blas_advice(serial), AllOf(HasSubstr("may be wrong where two threads ask at once"),
                                         HasSubstr("libopenblas0-openmp")));
  EXPECT_TRUE(bears_threads("/usr/lib/x86_64-linux-gnu/openblas-openmp/libblas.so.3"));
  EXPECT_TRUE(bears_threads(""));
}

/// As many as compute cells of a comparison side by side, or the examples of a batch of matrices.
TEST(Blas, ThreadsThatMultiplyAtOnceGetWhatOneAloneGets) {
  if (!bears_threads(blas_in_use())) return;  // models then compute with one thread
  const torch::NoGradGuard no_gradients;
  torch::manual_seed(1);
  const torch::Tensor a = torch::randn({16, 64, 32}), b = torch::randn({16, 32, 96});
  const torch::Tensor expected = torch::bmm(a, b);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      const torch::NoGradGuard none;
      for (int k = 0; k < 300; ++k) wrong += torch::equal(torch::bmm(a, b), expected) ? 0 : 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Blas, NothingIsSaidOfAnyOther) {
  EXPECT_EQ(blas_advice("/usr/lib/x86_64-linux-gnu/openblas-openmp/libblas.so.3"), "");
  EXPECT_EQ(blas_advice("/usr/lib/x86_64-linux-gnu/blis-openmp/libblas.so.4"), "");
  EXPECT_EQ(blas_advice("/opt/torch/lib/libtorch_cpu.so"), "");
  EXPECT_EQ(blas_advice(""), "");
}

TEST(Blas, EachModelTellsWhatThereIsToSayOfTheOneInUse) {
  for (const ModelKind& kind : torch_models()) {
    EXPECT_EQ(kind.advice(), blas_advice(blas_in_use())) << kind.name;
  }
}

}  // namespace
}  // namespace fast
