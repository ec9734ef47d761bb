// What fast-compare computes, keeps, shows and refuses.
#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "fast/exit_codes.h"
#include "tests/integration/compare/real_run_fixture.h"
#include "tests/support/cifar_files.h"

namespace fast::compare {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST_F(RealRun, a_finished_matrix_is_not_made_again_and_gives_the_same_table) {
  const auto all = arguments(
      spec_of("[[strategy]]\nname = \"stencil-async\"\n[[strategy]]\nname = \"parameter-server\"\n"
              "[[strategy]]\nname = \"local\"\n[[strategy]]\nname = \"single\"\n",
              "epochs = 8\n"));
  const auto first = testing::run_program(FAST_COMPARE, all, {}, kPatience);
  ASSERT_EQ(first.code, 0) << first.out << first.err;
  EXPECT_THAT(first.err, HasSubstr("4 of them to be made"));
  for (const char* const file : {"report.html", "results.json", "results.csv", "table.md"}) {
    EXPECT_TRUE(std::filesystem::exists(folder_.path() / "out" / file)) << file;
  }
  const std::string table = testing::read_text(folder_.path() / "out" / "table.md");
  const auto second = testing::run_program(FAST_COMPARE, all, {}, kPatience);
  EXPECT_THAT(second.err, HasSubstr("0 of them to be made"));
  EXPECT_EQ(testing::read_text(folder_.path() / "out" / "table.md"), table);
}

TEST_F(RealRun, what_is_finished_can_be_shown_without_making_the_rest) {
  const std::string job = "[[strategy]]\nname = \"local\"\n";
  auto all = arguments(spec_of(job, "epochs = 2\n"));
  all.emplace_back("--finished");
  const auto nothing = testing::run_program(FAST_COMPARE, all, {}, kPatience);
  EXPECT_EQ(nothing.code, static_cast<int>(ExitCode::kFailure));
  EXPECT_THAT(nothing.err, HasSubstr("no cell was finished; leave --finished out to make them"));
  all.pop_back();
  ASSERT_EQ(testing::run_program(FAST_COMPARE, all, {}, kPatience).code, 0);

  all = arguments(spec_of(job + "[[strategy]]\nname = \"allreduce\"\n", "epochs = 2\n"));
  all.emplace_back("--finished");
  const auto half = testing::run_program(FAST_COMPARE, all, {}, kPatience);
  EXPECT_EQ(half.code, 0) << half.err;
  EXPECT_THAT(half.out, HasSubstr("1 of 2 cells are finished; the same command without "
                                  "--finished makes the rest"));
}

TEST_F(RealRun, an_interrupted_matrix_ends_soon_keeps_what_is_finished_and_goes_on_with_the_rest) {
  const auto strategy = [](const std::string& epochs, const std::string& condition) {
    return "[[strategy]]\nname = \"stencil-async\"\nepochs = " + epochs + "\nconditions = [\"" +
           condition + "\"]\n";
  };
  const auto all =
      arguments(spec_of(strategy("2", "uniform") + strategy("100000000", "endless"), "") +
                "[[condition]]\nname = \"endless\"\ntopology = \"torus:2x2\"\n");
  const auto cells = [this] {
    const auto file = folder_.path() / "cells" / "tested.jsonl";
    return std::filesystem::exists(file) ? std::ranges::count(testing::read_text(file), '\n') : 0;
  };
  testing::Program first(FAST_COMPARE, all);
  const auto under_way = [&] {
    return first.err().find("begin  stencil-async on torus:2x2, endless") != std::string::npos;
  };
  ASSERT_TRUE(first.wait_until(under_way, kPatience)) << first.err();
  ASSERT_EQ(cells(), 1);
  first.signal(SIGINT);
  const auto ended = first.wait(kPatience);
  EXPECT_EQ(ended.code, static_cast<int>(ExitCode::kInterrupted)) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("start it again to go on"));
  EXPECT_EQ(cells(), 1) << "what was interrupted counts for nothing";

  auto rest = all;
  rest.insert(rest.end(), {"--hours", "1e-9"});
  const auto second = testing::run_program(FAST_COMPARE, rest, {}, kPatience);
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_THAT(second.err, HasSubstr("1 of them to be made"));
  EXPECT_THAT(second.out, HasSubstr("1 of 2 cells are finished"));
}

TEST_F(RealRun, a_quick_one_needs_no_spec_and_keeps_its_cells_where_it_is_told) {
  const std::string cells = (folder_.path() / "cells").string();
  std::vector<std::string> quick = {
      "--quick", "--out", (folder_.path() / "out").string(), "--cells", cells, "--hours", "1e-9"};
  const auto planned = testing::run_program(FAST_COMPARE, quick, {}, kPatience);
  EXPECT_EQ(planned.code, static_cast<int>(ExitCode::kFailure));
  EXPECT_THAT(planned.err, AllOf(HasSubstr("quick: 6 cells, 6 of them to be made"),
                                 HasSubstr("no cell was finished; give it more --hours")));
  quick.insert(quick.end(), {"--slow", "2:6"});
  const auto one_condition = testing::run_program(FAST_COMPARE, quick, {}, kPatience);
  EXPECT_THAT(one_condition.err, HasSubstr("quick: 3 cells, 3 of them to be made"));
}

TEST_F(RealRun, two_conditions_that_are_one_keep_their_own_clock) {
  const std::string condition = "topology = \"torus:2x2\"\nslow = {\"1\" = 4}\n";
  auto all_arguments = arguments(
      "name = \"tested\"\n[job]\nmodel = \"resnet8\"\ndata = \"synthetic:512,64\"\n"
      "epochs = 1\n[time]\nkind = \"virtual\"\nstep_seconds = 1\n"
      "[[condition]]\nname = \"one\"\n" +
      condition + "[[condition]]\nname = \"the same\"\n" + condition +
      "[[strategy]]\nname = \"stencil-async\"\n");
  all_arguments.insert(all_arguments.end(), {"-j", "1"});  // the second finds the first's cell
  const auto run = testing::run_program(FAST_COMPARE, all_arguments, {}, kPatience);
  ASSERT_EQ(run.code, 0) << run.out << run.err;
  const auto all =
      nlohmann::json::parse(testing::read_text(folder_.path() / "out" / "results.json"));
  for (const auto& group : all["groups"]) {
    // 16 steps of a second, of which the slow worker makes one in thirteen; in step they take 16 s.
    EXPECT_LT(group["rows"][0]["curve"].back()["seconds"].get<double>(), 10);
  }
}

TEST_F(RealRun, a_measured_step_says_of_which_images_it_is) {
  const std::vector<std::string> measure{"measure", "--model", "mlp", "--batch", "4"};
  const auto synthetic =
      testing::run_program(FAST_COMPARE, measure, {{"FAST_CIFAR10_DIR", ""}}, kPatience);
  EXPECT_EQ(synthetic.code, 0) << synthetic.err;
  EXPECT_THAT(synthetic.out,
              HasSubstr("mlp, batch 4 of synthetic, float32 [3, 16, 16], on one core"));

  testing::write_cifar10(folder_.path() / "cifar", 5, 20, 20);
  std::vector<std::string> of_cifar = measure;
  of_cifar.insert(of_cifar.end(), {"--cifar10", (folder_.path() / "cifar").string()});
  const auto real = testing::run_program(FAST_COMPARE, of_cifar, {}, kPatience);
  EXPECT_EQ(real.code, 0) << real.err;
  EXPECT_THAT(real.out, HasSubstr("mlp, batch 4 of cifar10, float32 [3, 32, 32], on one core"));
}

TEST_F(RealRun, what_the_data_cannot_give_fails_before_anything_runs) {
  for (const char* const job : {"examples = 500\n", "examples = 32\n"}) {
    const auto result = testing::run_program(
        FAST_COMPARE, arguments(spec_of("[[strategy]]\nname = \"local\"\n", job)), {}, kPatience);
    EXPECT_EQ(result.code, 2);
    EXPECT_THAT(result.err, AllOf(HasSubstr("spec.toml:2: [job]"), HasSubstr("192")));
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "out"));
  }
}

TEST_F(RealRun, a_bad_spec_fails_before_anything_runs) {
  const auto result = testing::run_program(
      FAST_COMPARE, arguments(spec_of("[[strategy]]\nname = \"allreduse\"\n", "")), {}, kPatience);
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("spec.toml:10"));
  EXPECT_THAT(result.err, HasSubstr("allreduse"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "out"));
}

}  // namespace
}  // namespace fast::compare
