#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <string>

#include "adapters/c/fast.h"

namespace {

using ::testing::HasSubstr;

/// A program of one worker that keeps a text in its checkpoints.
struct Program {
  explicit Program(std::string text, bool with_state = true) : kept(std::move(text)) {
    const std::array<std::int64_t, 1> shape = {3};
    fast_array(session, FAST_TRAINED, "x", "F32", 1, shape.data(), x);
    for (const char* key : {"checkpoint", "resume"}) fast_set(session, key, path().c_str());
    if (!with_state) return;
    const auto save = [](void* self, const void** bytes, size_t* size) {
      auto& program = *static_cast<Program*>(self);
      *bytes = program.kept.data();
      *size = program.kept.size();
      return program.fails;
    };
    const auto load = [](void* self, const void* bytes, size_t size) {
      auto& program = *static_cast<Program*>(self);
      program.loaded.assign(static_cast<const char*>(bytes), size);
      ++program.loads;
      return program.fails;
    };
    EXPECT_EQ(fast_set_state(session, save, load, this), FAST_OK) << fast_error(session);
  }
  ~Program() { fast_close(session); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  static std::string path() {
    return ::testing::TempDir() + "c_state_" + std::to_string(getpid()) + ".safetensors";
  }
  fast_code train() {
    const fast_code code = fast_open(session);
    if (code != FAST_OK) return code;
    fast_exchange(session, 1, 0);
    return fast_finish(session, nullptr);
  }

  fast_session* session = fast_new();
  float x[3] = {};
  std::string kept, loaded;
  int fails = 0, loads = 0;
};

class CState : public ::testing::Test {
 protected:
  ~CState() override { unlink(Program::path().c_str()); }
};

TEST_F(CState, WhatAProgramKeepsComesBackWithTheCheckpoint) {
  {
    Program first("momentum");
    ASSERT_EQ(first.train(), FAST_OK) << fast_error(first.session);
    EXPECT_EQ(first.loads, 0) << "there was no checkpoint";
  }
  Program second("");
  ASSERT_EQ(second.train(), FAST_OK) << fast_error(second.session);
  EXPECT_EQ(second.loaded, "momentum");
  EXPECT_EQ(fast_steps(second.session), 2U);
  Program third("x");
  ASSERT_EQ(third.train(), FAST_OK) << fast_error(third.session);
  EXPECT_EQ(third.loads, 1) << "an empty state is one";
}

TEST_F(CState, ACheckpointWithoutItResumesToo) {
  {
    Program first("", false);
    ASSERT_EQ(first.train(), FAST_OK) << fast_error(first.session);
  }
  Program second("momentum");
  ASSERT_EQ(second.train(), FAST_OK) << fast_error(second.session);
  EXPECT_EQ(second.loads, 0);
}

TEST_F(CState, FunctionsThatFailEndTheCall) {
  {
    Program first("momentum");
    ASSERT_EQ(first.train(), FAST_OK);
  }
  Program second("");
  second.fails = 7;
  EXPECT_EQ(fast_open(second.session), FAST_FILE);
  EXPECT_THAT(fast_error(second.session), HasSubstr("load given to fast_set_state() returned 7"));
  second.fails = 0;
  ASSERT_EQ(fast_open(second.session), FAST_OK) << fast_error(second.session);
  ASSERT_EQ(fast_exchange(second.session, 1, 0), FAST_OK);
  second.fails = 8;
  EXPECT_EQ(fast_finish(second.session, nullptr), FAST_MODEL);
  EXPECT_THAT(fast_error(second.session), HasSubstr("save given to fast_set_state() returned 8"));
}

}  // namespace
