#include "fast/checkpoint/checkpoint.h"

#include <gmock/gmock.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fast/checkpoint/checkpoint_writer.h"
#include "fast/checkpoint/kept_checkpoints.h"
#include "fast/errors.h"
#include "tests/support/cifar_files.h"

namespace fast::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const stencil::Terms kTerms = {{"run id", "first"}, {"data", "\"odd\" \xc3\xa9"}};
const stencil::LogSink kQuiet = [](stencil::LogLevel, std::string_view) {};

class CheckpointTest : public ::testing::Test {
 protected:
  void write(double value) {
    StateWriter state;
    state.put("a/scalar", value);
    state.put("a/list", std::span<const std::uint32_t>(std::array<std::uint32_t, 3>{1, 2, 3}));
    state.put("b/empty", std::span<const float>());
    write_checkpoint(file_, state.tensors(), kTerms);
  }
  [[nodiscard]] double read() const {
    return Checkpoint::newest(file_, kQuiet)->state().value<double>("a/scalar");
  }
  [[nodiscard]] std::vector<std::byte> bytes() const {
    std::ifstream in(file_, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const auto* const data = reinterpret_cast<const std::byte*>(text.data());
    return {data, data + text.size()};
  }

  TemporaryFolder folder_;
  fs::path file_ = folder_.path() / "checkpoint.safetensors";
};

TEST_F(CheckpointTest, WhatWasPutDownIsReadBack) {
  write(0.1);
  const Checkpoint checkpoint(file_);
  EXPECT_EQ(checkpoint.terms(), kTerms);
  const StateReader state = checkpoint.state();
  EXPECT_EQ(state.value<double>("a/scalar"), 0.1);
  EXPECT_EQ(state.values<std::uint32_t>("a/list"), (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_TRUE(state.values<float>("b/empty").empty());
  EXPECT_FALSE(state.has("a/other"));
}

TEST_F(CheckpointTest, WhatIsNotThereOrOfAnotherTypeIsNamed) {
  write(1);
  const StateReader state = Checkpoint(file_).state();
  EXPECT_THROW((void)state.value<double>("a/other"), FileError);
  EXPECT_THROW((void)state.value<float>("a/scalar"), FileError);
  EXPECT_THROW((void)state.value<std::uint32_t>("a/list"), FileError);
}

TEST_F(CheckpointTest, TheOneBeforeIsKept) {
  EXPECT_EQ(previous_checkpoint(file_).filename(), "checkpoint.previous.safetensors");
  EXPECT_FALSE(Checkpoint::newest(file_, kQuiet).has_value());
  for (const int value : {1, 2, 3}) write(value);
  EXPECT_EQ(read(), 3);
  EXPECT_EQ(Checkpoint(previous_checkpoint(file_)).state().value<double>("a/scalar"), 2);
}

/// As after a power cut between the two renames.
TEST_F(CheckpointTest, TheOneBeforeServesWhereTheNewestIsNotInPlace) {
  write(1);
  write(2);
  fs::remove(file_);
  EXPECT_EQ(read(), 1);
}

TEST_F(CheckpointTest, NoChangedByteAndNoCutPassesUnseen) {
  write(1);
  const std::vector<std::byte> whole = bytes();
  ASSERT_NO_THROW((void)parse_checkpoint(whole, "whole"));
  const std::size_t data = whole.size() - 3 * sizeof(std::uint32_t) - sizeof(double);
  for (std::size_t i = data; i < whole.size(); ++i) {
    std::vector<std::byte> changed = whole;
    changed[i] ^= std::byte{1};
    EXPECT_THROW((void)parse_checkpoint(changed, "changed"), FileError) << i;
  }
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW((void)parse_checkpoint(std::span(whole).first(size), "cut"), FileError) << size;
  }
}

TEST_F(CheckpointTest, AModelFileIsNoCheckpoint) {
  save_safetensors(file_, {}, {{"model", "mlp"}});
  EXPECT_THROW(Checkpoint{file_}, FileError);
}

TEST_F(CheckpointTest, WhatCannotBeWrittenIsNamedInTheLogAndStopsNothing) {
  std::string log;
  {
    CheckpointWriter writer([&log](stencil::LogLevel level, std::string_view text) {
      if (level == stencil::LogLevel::kError) log += text;
    });
    writer.begin().put("a/scalar", 1.0);
    writer.write(folder_.path() / "no" / "such" / "folder.safetensors", kTerms, {});
    writer.begin().put("a/scalar", 2.0);
    writer.write(file_, kTerms, {});
  }
  EXPECT_THAT(log, HasSubstr("no checkpoint: cannot write"));
  EXPECT_EQ(read(), 2);
}

TEST_F(CheckpointTest, AStateWriterKeepsItsMemoryForTheNextSave) {
  StateWriter state;
  const std::vector<float> large(1000, 1.0F), small(10, 2.0F);
  state.put("x", std::span<const float>(large));
  const auto* const memory = state.tensors().front().bytes.data();
  state.clear();
  state.put("y", std::span<const float>(small));
  ASSERT_EQ(state.tensors().size(), 1U);
  EXPECT_EQ(state.tensors().front().bytes.data(), memory);
  EXPECT_EQ(state.tensors().front().bytes.size(), small.size() * sizeof(float));
}

TEST_F(CheckpointTest, TheLastAreKeptByTheirSteps) {
  const auto value = [](const fs::path& file) {
    return Checkpoint(file).state().value<double>("a/scalar");
  };
  std::ofstream(folder_.path() / "checkpoint.notes.safetensors") << "mine";
  for (const int steps : {50, 100, 200, 300}) {
    write(steps);
    keep_checkpoint(file_, static_cast<std::uint64_t>(steps), 2);
  }
  EXPECT_EQ(value(kept_checkpoint(file_, 200)), 200);
  EXPECT_EQ(value(kept_checkpoint(file_, 300)), 300);
  EXPECT_FALSE(fs::exists(kept_checkpoint(file_, 100)));
  // Back to 200: what came after it stays until it is reached again.
  for (const int steps : {250, 260}) {
    write(steps);
    keep_checkpoint(file_, static_cast<std::uint64_t>(steps), 2);
  }
  EXPECT_FALSE(fs::exists(kept_checkpoint(file_, 200)));
  EXPECT_EQ(value(kept_checkpoint(file_, 250)), 250);
  EXPECT_EQ(value(kept_checkpoint(file_, 300)), 300);
  EXPECT_EQ(read(), 260);
  EXPECT_TRUE(fs::exists(folder_.path() / "checkpoint.notes.safetensors"));
}

TEST_F(CheckpointTest, AFileThatCannotHaveTwoNamesIsNamed) {
  EXPECT_THROW(keep_checkpoint(folder_.path() / "none.safetensors", 1, 1), FileError);
}

}  // namespace
}  // namespace fast::testing
