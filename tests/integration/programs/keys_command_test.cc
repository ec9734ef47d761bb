// fast keys, and what the programs do with keys.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/support/cifar_files.h"
#include "tests/support/process.h"

namespace fast::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class KeysCommandTest : public ::testing::Test {
 protected:
  ProgramResult make(int workers) {
    return run_program(FAST_PROGRAM,
                       {"keys", "--out", keys_.string(), "--workers", std::to_string(workers)});
  }
  ProgramResult worker(std::vector<std::string> wishes,
                       const std::map<std::string, std::string>& environment = {}) {
    std::vector<std::string> all = {
        "--topology", "ring:3",      "--rank",   "1",    "--model",          "linear",
        "--out",      run_.string(), "--epochs", "0.01", "--start-deadline", "0.1"};
    all.insert(all.end(), wishes.begin(), wishes.end());
    return run_program(FAST_WORKER, all, environment);
  }
  static unsigned mode(const fs::path& file) {
    return static_cast<unsigned>(fs::status(file).permissions());
  }

  TemporaryFolder folder_;
  const fs::path keys_ = folder_.path() / "keys", run_ = folder_.path() / "run";
};

TEST_F(KeysCommandTest, APairIsMadeForEachRankAndTheSecretsAreTheUsersAlone) {
  const ProgramResult made = make(3);
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.out, AllOf(HasSubstr("public.keys"), HasSubstr("rank-0.key to rank-2.key")));
  for (const char* const name : {"rank-0.key", "rank-1.key", "rank-2.key"}) {
    EXPECT_EQ(mode(keys_ / name), 0600U) << name;
  }
  EXPECT_EQ(mode(keys_ / "public.keys"), 0644U);
  EXPECT_EQ(std::distance(fs::directory_iterator(keys_), fs::directory_iterator()), 4);
  const std::string open = read_text(keys_ / "public.keys");
  EXPECT_THAT(open, AllOf(HasSubstr("\n0 "), HasSubstr("\n1 "), HasSubstr("\n2 ")));
  const std::string own = read_text(keys_ / "rank-0.key");
  const std::string secret = own.substr(own.find("\nsecret ") + 8, 40);
  EXPECT_EQ(secret.find_first_of(" \n"), std::string::npos);
  EXPECT_THAT(made.out + made.err + open, Not(HasSubstr(secret)));
}

TEST_F(KeysCommandTest, KeysAreNeverOverwrittenAndNothingIsLeftOfAnAttempt) {
  ASSERT_EQ(make(2).code, 0);
  const std::string before = read_text(keys_ / "rank-0.key");
  const ProgramResult again = make(2);
  EXPECT_EQ(again.code, 4);
  EXPECT_THAT(again.err, AllOf(HasSubstr("rank-0.key is there already"), HasSubstr("--out")));
  EXPECT_EQ(read_text(keys_ / "rank-0.key"), before);
  fs::remove(keys_ / "rank-0.key");
  EXPECT_EQ(make(2).code, 4);
  EXPECT_FALSE(fs::exists(keys_ / "rank-0.key")) << "a key without its public key";
}

TEST_F(KeysCommandTest, WhatIsWrongIsNamed) {
  EXPECT_EQ(make(0).code, 2);
  EXPECT_THAT(make(-1).err, AllOf(HasSubstr("--workers -1"), HasSubstr("use 1 to")));
  EXPECT_EQ(run_program(FAST_PROGRAM, {"keys", "--workers", "2"}).code, 2);
  EXPECT_EQ(run_program(FAST_PROGRAM, {"keys", "--out", "/proc/keys", "--workers", "2"}).code, 4);
  const ProgramResult help = run_program(FAST_PROGRAM, {"keys", "--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.out, AllOf(HasSubstr("Examples:"), HasSubstr("--workers"), HasSubstr("--out")));
}

TEST_F(KeysCommandTest, AWorkerListensToOtherHostsWithKeysOrWhereItIsAskedTo) {
  const ProgramResult refused = worker({"--listen", "tcp://0.0.0.0:0"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("'tcp://0.0.0.0:0'"), HasSubstr("--keys"), HasSubstr("--insecure")));
  EXPECT_EQ(std::ranges::count(refused.err, '\n'), 1);
  EXPECT_FALSE(fs::exists(run_));
  const ProgramResult asked = worker({"--listen", "tcp://0.0.0.0:0", "--insecure"});
  EXPECT_THAT(asked.err, Not(HasSubstr("--insecure")));
  EXPECT_TRUE(fs::exists(run_));
}

TEST_F(KeysCommandTest, AWrongKeyIsNamedBeforeAnythingIsWritten) {
  ASSERT_EQ(make(3).code, 0);
  const auto refused = [this](const std::vector<std::string>& wishes,
                              const std::map<std::string, std::string>& environment,
                              const std::string& named) {
    const ProgramResult result = worker(wishes, environment);
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_THAT(result.err, AllOf(HasSubstr(named), HasSubstr("; ")));
    EXPECT_FALSE(fs::exists(run_));
  };
  const std::string own = (keys_ / "rank-1.key").string(), all = (keys_ / "public.keys").string();
  fs::permissions(own, fs::perms::others_read, fs::perm_options::add);
  refused({"--keys", keys_.string()}, {}, "chmod 600 " + own);
  refused({}, {{"FAST_KEYS", keys_.string()}}, "chmod 600 " + own);
  refused({}, {{"FAST_KEY", own}, {"FAST_PUBLIC_KEYS", all}}, "chmod 600 " + own);
  refused({"--key", own}, {}, "--key is given without --public-keys");
  refused({"--key", (keys_ / "rank-2.key").string(), "--public-keys", all}, {},
          "is the key of rank 2");
}

TEST_F(KeysCommandTest, ALauncherLooksAtTheKeysOfAllRanks) {
  ASSERT_EQ(make(3).code, 0);
  const ProgramResult result =
      run_program(FAST_PROGRAM, {"train", "--topology", "ring:4", "--model", "linear", "--keys",
                                 keys_.string(), "--out", run_.string()});
  EXPECT_EQ(result.code, 2) << result.err;
  EXPECT_THAT(result.err, HasSubstr("no key of rank 3"));
  EXPECT_FALSE(fs::exists(run_));
}

}  // namespace
}  // namespace fast::testing
