// What a run begins with: a worker program, and a saved model of which some fits.
#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/cifar_files.h"
#include "tests/support/npy_files.h"
#include "tests/support/process.h"

namespace fast::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(WorkerProgram, one_that_does_not_say_what_it_knows_is_named_with_the_remedy) {
  const TemporaryFolder folder;
  for (const auto& [option, value] : {std::pair{"--model", "no-such"}, {"--data", "no-such:1"}}) {
    const ProgramResult result =
        run_program(FAST_PROGRAM, {"train", option, value, "--worker-program", "/bin/true", "--out",
                                   (folder.path() / "run").string()});
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_THAT(result.err,
                AllOf(HasSubstr("/bin/true does not answer --describe"), HasSubstr("; ")));
    EXPECT_FALSE(fs::exists(folder.path() / "run"));
    const ProgramResult known =
        run_program(FAST_PROGRAM, {"train", option, value, "--worker-program", FAST_WORKER, "--out",
                                   (folder.path() / "run").string()});
    EXPECT_EQ(known.code, 2) << known.err;
    EXPECT_THAT(known.err, AllOf(HasSubstr("no-such"), HasSubstr("; use ")));
  }
}

TEST(Beginning, BeginsWithWhatFitsOfASavedModel) {
  const TemporaryFolder folder;
  const auto run = [&](const std::string& name) { return folder.path() / name; };
  ASSERT_EQ(run_program(FAST_PROGRAM,
                        {"train", "--topology", "ring:1", "--model", "linear", "--data",
                         "synthetic:512,128", "--epochs", "1", "--lr", "0.01", "--out",
                         run("first").string()},
                        {}, kPatience)
                .code,
            0);
  const std::string saved = (run("first") / "mean.safetensors").string();
  write_npy(folder.path(), 64, 10, 5);
  const auto worker = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {
        "--topology", "ring:1",   "--rank", "0",     "--model",
        "linear",     "--epochs", "1",      "--out", run("partly").string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(FAST_WORKER, arguments, {}, kPatience);
  };
  const std::string other = "npy:" + folder.path().string();
  const ProgramResult nothing = worker({"--data", other, "--init", saved, "--init-partial"});
  EXPECT_EQ(nothing.code, 4) << nothing.err;
  EXPECT_THAT(nothing.err,
              AllOf(HasSubstr("nothing of " + saved + " fits the model"),
                    HasSubstr("of another form: fc.weight (F32"), HasSubstr("; give")));
  const ProgramResult all =
      worker({"--data", "synthetic:512,128", "--init", saved, "--init-partial"});
  EXPECT_EQ(all.code, 0) << all.err;
  EXPECT_THAT(all.err, HasSubstr("begins with 2 of 2 arrays of " + saved));
  EXPECT_THAT(read_text(run("partly") / "worker-0/log.txt"), HasSubstr("begins with 2 of 2"));
  const ProgramResult without = worker({"--init-partial", "--fresh"});
  EXPECT_EQ(without.code, 2) << without.err;
  EXPECT_THAT(without.err, HasSubstr("--init-partial is without --init"));
  const ProgramResult plain = worker({"--freeze", "fc.bias", "--fresh"});
  EXPECT_EQ(plain.code, 2) << plain.err;
  EXPECT_THAT(plain.err, AllOf(HasSubstr("--freeze fc.bias"), HasSubstr("'linear' trains all")));
}

}  // namespace
}  // namespace fast::testing
