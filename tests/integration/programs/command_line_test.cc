#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/cifar_files.h"
#include "tests/support/process.h"
#include "tests/support/topologies.h"

namespace fast::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

ProgramResult fast_program(std::vector<std::string> arguments,
                           const std::map<std::string, std::string>& environment = {}) {
  return run_program(FAST_PROGRAM, std::move(arguments), environment);
}
ProgramResult worker_program(std::vector<std::string> arguments,
                             const std::map<std::string, std::string>& environment = {}) {
  return run_program(FAST_WORKER, std::move(arguments), environment);
}

TEST(CommandLineTest, WithoutArgumentsTheCommandsAreListed) {
  const ProgramResult result = fast_program({});
  EXPECT_EQ(result.code, 0);
  for (const char* const command :
       {"train", "run", "topology", "simulate", "replay", "report", "keys"}) {
    EXPECT_THAT(result.out, HasSubstr(command));
  }
  EXPECT_EQ(fast_program({"--help"}).out, result.out);
}

TEST(CommandLineTest, AMistypedCommandGetsASuggestion) {
  const ProgramResult result = fast_program({"trian"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("'trian'"), HasSubstr("did you mean train?")));
}

TEST(CommandLineTest, EachHelpHasGroupsUnitsDefaultsAndExamples) {
  for (const char* const command :
       {"train", "run", "topology", "simulate", "replay", "report", "keys"}) {
    const ProgramResult result = fast_program({command, "--help"});
    EXPECT_EQ(result.code, 0) << command;
    EXPECT_THAT(result.out, AllOf(HasSubstr("Examples:"), HasSubstr("Usage: fast"))) << command;
  }
  const ProgramResult train = fast_program({"train", "--help"});
  EXPECT_THAT(train.out, AllOf(HasSubstr("What it trains:"), HasSubstr("How it exchanges:"),
                               HasSubstr("--gone-after SECONDS=60"), HasSubstr("--lr"),
                               HasSubstr("FAST_LEARNING_RATE"), HasSubstr("--overwrite")));
  EXPECT_THAT(fast_program({"run", "--help"}).out,
              AllOf(HasSubstr("--topology SPEC"), HasSubstr("--restarts N=0")));
  const ProgramResult worker = worker_program({"--help"});
  EXPECT_EQ(worker.code, 0);
  EXPECT_THAT(worker.out, AllOf(HasSubstr("--peer-template"), HasSubstr("SLURM_PROCID")));
}

TEST(CommandLineTest, BothProgramsTellTheirVersion) {
  const ProgramResult fast = fast_program({"--version"});
  EXPECT_EQ(fast.code, 0);
  EXPECT_THAT(fast.out, ::testing::MatchesRegex("fast [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  EXPECT_EQ(worker_program({"--version"}).out, fast.out);
  EXPECT_EQ(fast_program({"train", "--version"}).out, fast.out);
}

TEST(CommandLineTest, ThePrintedConfigurationReadsBackToItself) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "printed.toml";
  const std::vector<std::string> wishes = {
      "--lr",    "0.123456789012345", "--slow",           "1:2.5",
      "--seed",  "12345678901234567", "--no-augment",     "--out",
      "a # b,c", "--schedule",        "step:0.1@0.5,0.75"};
  for (const bool worker : {false, true}) {
    std::vector<std::string> first = worker ? std::vector<std::string>{"--print-config"}
                                            : std::vector<std::string>{"train", "--print-config"};
    std::vector<std::string> second = first;
    first.insert(first.end(), wishes.begin(), wishes.end());
    second.insert(second.end(), {"--config", file.string()});
    const std::string printed = (worker ? worker_program(first) : fast_program(first)).out;
    EXPECT_THAT(printed, HasSubstr("learning-rate = 0.123456789012345\n"));
    std::ofstream(file) << printed;
    EXPECT_EQ((worker ? worker_program(second) : fast_program(second)).out, printed);
  }
}

TEST(CommandLineTest, AFlagWinsOverTheFileAndTheFileOverTheEnvironment) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "some.toml";
  std::ofstream(file) << "batch = 64\nepochs = 2\n";
  const ProgramResult result =
      fast_program({"train", "--print-config", "--config", file.string(), "--epochs", "3"},
                   {{"FAST_EPOCHS", "4"}, {"FAST_BATCH", "8"}, {"FAST_WINDOW", "9"}});
  EXPECT_THAT(result.out, AllOf(HasSubstr("\nepochs = 3\n"), HasSubstr("\nbatch = 64\n"),
                                HasSubstr("\nwindow = 9\n")));
}

TEST(CommandLineTest, ATopologyIsShownWithItsNumbers) {
  const ProgramResult text = fast_program({"topology", "torus:4x4", "--parameters", "1000000"});
  EXPECT_EQ(text.code, 0);
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("16 workers, 32 edges"), HasSubstr("spectral gap  0.4"),
                    HasSubstr("turns         4   ("), HasSubstr("sweeps        4   ("),
                    HasSubstr("stray 19.82, 3.00, 1.00, 0.00,"), HasSubstr("lambda2       2"),
                    HasSubstr("4.0 MB"), HasSubstr("--  4 --  5 --  6 --  7 --")));
  const auto json = nlohmann::json::parse(
      fast_program({"topology", "grid:2x3", "--parameters", "1000", "--codec", "int8", "--json"})
          .out);
  EXPECT_EQ(json["workers"], 6);
  EXPECT_EQ(json["edges"].size(), 7U);
  EXPECT_EQ(json["bytes_per_sweep"]["offered"], 2000);
  EXPECT_EQ(json["bytes_per_sweep"]["replied"], 1016) << "an exponent for each 64";
  EXPECT_EQ(json["ranks"][4]["neighbours"].size(), 3U);
  EXPECT_EQ(json["ranks"][4]["neighbours"][0]["direction"], "-y");
  for (const std::string& small : stencil::test::topology_examples()) {
    EXPECT_EQ(fast_program({"topology", small, "--parameters", "10"}).code, 0) << small;
  }
}

TEST(CommandLineTest, ASimulationRepeatsToTheLastByte) {
  const std::vector<std::string> wishes = {
      "simulate", "torus:3x3", "--steps", "40",        "--rows", "4",       "--dimension",
      "8",        "--json",    "--break", "0-1:1-2",   "--slow", "4:3",     "--latency",
      "0.2",      "--kill",    "5:1",     "--restart", "5:2",    "--finish"};
  const ProgramResult first = fast_program(wishes);
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(fast_program(wishes).out, first.out);
  const auto json = nlohmann::json::parse(first.out);
  EXPECT_EQ(json["workers"], 9);
  EXPECT_EQ(json["rows"].size(), 6U);
  EXPECT_LT(json["rows"][4]["objective"], json["rows"][0]["objective"]);
  EXPECT_TRUE(json["settled"].is_boolean());
}

TEST(CommandLineTest, ASimulationWritesATableAndCsv) {
  const ProgramResult csv = fast_program({"simulate", "ring:4", "--rows", "3", "--csv"});
  EXPECT_EQ(csv.code, 0);
  EXPECT_EQ(std::count(csv.out.begin(), csv.out.end(), '\n'), 5);
  EXPECT_THAT(csv.out, HasSubstr("time,steps,objective,consensus_distance"));
  const ProgramResult table = fast_program({"simulate", "ring:4", "--objective", "logistic"});
  EXPECT_EQ(table.code, 0);
  EXPECT_THAT(table.out, HasSubstr("consensus"));
}

TEST(CommandLineTest, ASimulationRefusesWhatCannotBe) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--break", "0-5:1"}, "0 and 5 are no neighbours"},
      {{"--break", "0:1"}, "--break 0:1"},
      {{"--slow", "99:2"}, "rank 99 is not on"},
      {{"--link", "0-1:x"}, "--link 0-1:x"},
      {{"--restart", "1:1"}, "worker 1 cannot be started again"},
      {{"--objective", "cubic"}, "cubic"},
      {{"--steps", "0"}, "--steps 0"},
      {{"--json", "--csv"}, "--json and --csv"},
  };
  for (const auto& [wish, expected] : cases) {
    std::vector<std::string> arguments = {"simulate", "ring:10"};
    arguments.insert(arguments.end(), wish.begin(), wish.end());
    const ProgramResult result = fast_program(arguments);
    EXPECT_EQ(result.code, 2) << expected;
    EXPECT_THAT(result.err, HasSubstr(expected));
    EXPECT_EQ(result.out, "");
  }
}

}  // namespace
}  // namespace fast::testing
