#include "adapters/torch/models/blas.h"

#include <gmock/gmock.h>

#include "adapters/torch/models/torch_learner.h"

namespace fast {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Blas, TheReferenceIsNamedWithAQuickerPackage) {
  EXPECT_THAT(blas_advice("/usr/lib/aarch64-linux-gnu/blas/libblas.so.3.11.0"),
              AllOf(HasSubstr("/blas/libblas.so.3.11.0"), HasSubstr("libopenblas0-serial")));
}

TEST(Blas, NothingIsSaidOfAnyOther) {
  EXPECT_EQ(blas_advice("/usr/lib/x86_64-linux-gnu/openblas-serial/libblas.so.3"), "");
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
