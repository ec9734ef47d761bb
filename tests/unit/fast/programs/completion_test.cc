#include "fast/programs/completion.h"

#include <gmock/gmock.h>

#include "stencil/core/topologies/kinds.h"

namespace fast {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

const Models& models() {
  static const Models kModels({{"linear", {}}, {"resnet8", {}}});
  return kModels;
}

std::vector<std::string> after(const std::vector<std::string>& words) {
  return complete(words, models());
}

TEST(CompletionTest, TheFirstWordIsACommand) {
  EXPECT_THAT(after({"t"}), ElementsAre("train", "topology"));
  EXPECT_THAT(after({""}), IsSupersetOf({"train", "simulate", "report", "completion"}));
}

TEST(CompletionTest, FlagsAreThoseOfTheCommand) {
  EXPECT_THAT(after({"train", "--le"}), ElementsAre("--learning-rate"));
  EXPECT_THAT(after({"simulate", "--"}),
              AllOf(Contains("--kill"), Contains("--linger"), Not(Contains("--mix-threads"))));
  EXPECT_THAT(after({"topology", "--j"}), ElementsAre("--json"));
  EXPECT_THAT(after({"report", "--o"}), ElementsAre("--out"));
  EXPECT_THAT(after({"run", "--re"}), ElementsAre("--restarts", "--resume"));
  EXPECT_THAT(after({"run", "--topology", "ring:2", "--", "./mine", "--"}), IsEmpty());
  EXPECT_THAT(after({"nonsense", "--"}), Not(Contains("--epochs")));
}

TEST(CompletionTest, ValuesComeFromTheListOfTheirKind) {
  EXPECT_THAT(after({"train", "--topology", ""}), stencil::topology_choices());
  EXPECT_THAT(after({"topology", "to"}), ElementsAre("torus:"));
  EXPECT_THAT(after({"train", "--model", "r"}), ElementsAre("resnet8"));
  EXPECT_THAT(after({"simulate", "x", "--codec", "t"}), ElementsAre("topk:"));
  EXPECT_THAT(after({"train", "--data", "m"}), ElementsAre("mnist:"));
  EXPECT_THAT(after({"run", "--topology", "to"}), ElementsAre("torus:"));
  EXPECT_THAT(after({"train", "--epochs", ""}), IsEmpty());
}

}  // namespace
}  // namespace fast
