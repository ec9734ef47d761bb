// What goes wrong with models of the user's own kinds, in real processes: of tokens, and of a file.
#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fast/data/synthetic.h"
#include "tests/support/cifar_files.h"
#include "tests/support/faults.h"
#include "tests/support/script_files.h"

namespace fast::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

/// A model, another with parameters of other shapes and the same place in a run, and data.
struct Model {
  std::string name;
  std::string model, other, data;  ///< "{}" stands for the test's folder
  std::string epochs;              ///< of a run that lasts for seconds
};
void PrintTo(const Model& model, std::ostream* out) {
  *out << model.name;
}

class OwnFaults : public ::testing::TestWithParam<Model> {
 protected:
  void SetUp() override {
    Bytes text(20000);
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = "forward "[i * i % 8];
    write_bytes(folder_.path() / "text", text);
    std::filesystem::create_directory(folder_.path() / "other");
    const auto inputs = static_cast<std::int64_t>(kSyntheticShape.pixels());
    save_script(folder_.path() / "own.pt", inputs, kSyntheticShape.classes);
    save_script(folder_.path() / "other/own.pt", inputs, kSyntheticShape.classes + 1);
  }
  [[nodiscard]] std::string here(std::string text) const {
    const std::size_t at = text.find("{}");
    return at == text.npos ? text : text.replace(at, 2, folder_.path().string());
  }
  [[nodiscard]] std::vector<std::string> job(const std::string& model) const {
    return {"--model",   here(model), "--data", here(GetParam().data),
            "--batch",   "16",        "--lr",   "0.01",
            "--threads", "1",         "--out",  run_.path()};
  }
  [[nodiscard]] std::vector<std::string> training(std::vector<std::string> more) const {
    std::vector<std::string> arguments = job(GetParam().model);
    arguments.insert(arguments.begin(), {"train", "--topology", "ring:2"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  TemporaryFolder folder_;
  RunWatch run_{folder_.path() / "run"};
};

INSTANTIATE_TEST_SUITE_P(
    Models, OwnFaults,
    ::testing::Values(Model{"Gpt", "gpt:1,2,8", "gpt:1,2,16", "text:{}/text,16", "40"},
                      Model{"Script", "script:{}/own.pt", "script:{}/other/own.pt",
                            "synthetic:512,128", "150"}),
    [](const auto& info) { return info.param.name; });

TEST_P(OwnFaults, AWorkerThatIsKilledGoesOnFromItsCheckpoint) {
  Program program(FAST_PROGRAM,
                  training({"--epochs", GetParam().epochs, "--restarts", "1", "--report-every",
                            "0.1", "--checkpoint-every", "0.1", "--suspect-after", "0.5"}));
  ASSERT_TRUE(program.wait_until(
      [&] {
        return run_.all_train(2) &&
               std::filesystem::exists(run_.path() / "worker-1" / "checkpoint.safetensors");
      },
      kPatience))
      << program.err();
  kill(worker_pids(program.pid()).at(1), SIGKILL);
  const ProgramResult result = program.wait(kPatience);
  EXPECT_THAT(result.code, AnyOf(0, 12)) << result.out << result.err;  // 12: random labels
  EXPECT_THAT(run_.log(1), HasSubstr("goes on from step "));
  EXPECT_EQ(run_.summary()["restarted_ranks"], nlohmann::json({1}));
  EXPECT_EQ(run_.summary()["lost_ranks"], nlohmann::json::array());
}

TEST_P(OwnFaults, NumbersThatAreNoneEndTheRunByThatName) {
  const ProgramResult result =
      run_program(FAST_PROGRAM, training({"--epochs", "5", "--lr", "1e30"}), {}, kPatience);
  EXPECT_EQ(result.code, 7) << result.out << result.err;
  EXPECT_THAT(result.out + result.err, HasSubstr("lower the learning rate"));
}

TEST_P(OwnFaults, AWorkerWithAModelOfOtherShapesIsRefused) {
  const auto worker = [&](int rank, const std::string& model) {
    std::vector<std::string> arguments = job(model);
    arguments.insert(
        arguments.end(),
        {"--topology", "ring:2", "--rank", std::to_string(rank), "--run-id", "own", "--epochs",
         "100", "--listen", "127.0.0.1:0", "--peer-template",
         "file:" + run_.path().string() + "/worker-{rank}/endpoint", "--start-deadline", "20"});
    return std::make_unique<Program>(FAST_WORKER, arguments);
  };
  const auto one = worker(0, GetParam().model), two = worker(1, GetParam().other);
  const ProgramResult first = one->wait(kPatience), second = two->wait(kPatience);
  EXPECT_TRUE(first.code == 6 || second.code == 6) << first.err << second.err;
  EXPECT_THAT(first.err + second.err, HasSubstr("model"));
}

}  // namespace
}  // namespace fast::testing
