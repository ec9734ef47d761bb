// The keys that launchers make for a run: who comes without them is a stranger to it.
#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/cifar_files.h"
#include "tests/support/faults.h"

namespace fast::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Strings = std::vector<std::string>;
using Variables = std::map<std::string, std::string>;

constexpr char kTell[] =
    "echo keys $FAST_RUN_KEYS; stat -L -c %a $FAST_RUN_KEYS $FAST_RUN_KEYS/rank-$FAST_RANK.key";

/// The words behind `name` in the first line of rank 0 that begins with it.
std::string told(const std::string& out, const std::string& name) {
  std::istringstream in(out);
  const std::string begin = "[0] " + name;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(begin)) return line.substr(std::min(line.size(), begin.size() + 1));
  }
  return "?";
}

ProgramResult run(const Strings& more, const Strings& program, const Variables& environment = {}) {
  Strings all = {"run", "--topology", "ring:2"};
  all.insert(all.end(), more.begin(), more.end());
  all.emplace_back("--");
  all.insert(all.end(), program.begin(), program.end());
  return run_program(FAST_PROGRAM, all, environment, kPatience);
}

Strings train(const fs::path& out, const Strings& more = {}) {
  Strings all = {"train",      "--model",   "linear", "--data",     "synthetic:200,50",
                 "--topology", "ring:2",    "--out",  out.string(), "--lr",
                 "0.01",       "--threads", "1",      "--quiet",    "--suspect-after",
                 "30"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST(RunKeysTest, WhoComesToALaunchedRunWithoutItsKeysIsAStranger) {
  const Variables common = {{"FAST_BUDGET", "100000000"}, {"FAST_SETTLE_DEADLINE", "1"}};
  Variables ours = common;
  ours["FAST_START_DEADLINE"] = "2";
  const std::string script = "[ $FAST_RANK = 2 ] || exec " FAST_MEMBER
                             "; echo place $FAST_RUN_ID $FAST_PEER end; exec sleep 1000";
  Program program(FAST_PROGRAM, {"run", "--topology", "ring:3", "--", "sh", "-c", script}, ours);
  ASSERT_TRUE(program.wait_until(
      [&] {
        return program.out().find("[0] trains") != std::string::npos &&
               program.out().find(" end\n") != std::string::npos;
      },
      kPatience))
      << program.out() << program.err();
  std::istringstream place(program.out().substr(program.out().find("place ")));
  std::string word, run_id, peers;
  place >> word >> run_id >> peers;
  // It knows all but the keys.
  Variables theirs = common;
  theirs["FAST_TOPOLOGY"] = "ring:3";
  theirs["FAST_RANK"] = "2";
  theirs["FAST_RUN_ID"] = run_id;
  theirs["FAST_PEER"] = peers;
  theirs["FAST_START_DEADLINE"] = "1000";
  Program stranger(FAST_MEMBER, {}, theirs);
  ASSERT_TRUE(program.wait_until(
      [&] { return program.out().find("a stranger: ") != std::string::npos; }, kPatience))
      << program.out() << stranger.out() << stranger.err();
  EXPECT_THAT(program.out(), HasSubstr("without a key"));
  EXPECT_THAT(stranger.out(), Not(HasSubstr("begins"))) << "nobody has greeted it";
  program.signal(SIGTERM);
  EXPECT_EQ(program.wait(kPatience).code, 130);
}

TEST(RunKeysTest, KeysAreForTheirOwnerAloneAndThoseOfARunWithoutAFolderGoWithIt) {
  const ProgramResult result = run({}, {"sh", "-c", kTell});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("[0] 700\n[0] 600\n"))) << result.out;
  const std::string folder = told(result.out, "keys");
  EXPECT_THAT(folder, HasSubstr("/run-keys"));
  EXPECT_FALSE(fs::exists(fs::path(folder).parent_path())) << folder;
}

TEST(RunKeysTest, NoneAreMadeWhereOthersAreGivenOrNoneCanServe) {
  const TemporaryFolder folder;
  const auto keys = [&](const Strings& more, const Variables& environment) {
    const ProgramResult result = run(more, {"sh", "-c", "echo keys $FAST_RUN_KEYS"}, environment);
    EXPECT_EQ(result.code, 0) << result.err;
    return told(result.out, "keys");
  };
  EXPECT_EQ(keys({"--insecure"}, {}), "");
  EXPECT_EQ(keys({}, {{"FAST_INSECURE", "1"}, {"FAST_RUN_KEYS", "an-outer-run"}}), "");
  EXPECT_EQ(keys({}, {{"FAST_KEYS", "mine"}}), "");
  EXPECT_EQ(keys({}, {{"FAST_KEY", "mine"}, {"FAST_PUBLIC_KEYS", "ours"}}), "");
  const std::string out = (folder.path() / "run").string();
  (void)run({"--out", out}, {"true"});
  EXPECT_TRUE(fs::exists(out + "/run-keys/rank-1.key"));
}

TEST(RunKeysTest, KeysThatAProgramNamesItselfComeBeforeThoseOfTheLauncher) {
  const TemporaryFolder folder;
  const std::string keys = (folder.path() / "keys").string();
  ASSERT_EQ(
      run_program(FAST_PROGRAM, {"keys", "--out", keys, "--workers", "2"}, {}, kPatience).code, 0);
  const std::string own = "FAST_KEY=" + keys + "/rank-$FAST_RANK.key FAST_PUBLIC_KEYS=" + keys +
                          "/public.keys exec " FAST_MEMBER;
  // Without its folder, the launcher's keys could not be read.
  const ProgramResult result =
      run({}, {"sh", "-c", "rm -f $FAST_RUN_KEYS/rank-$FAST_RANK.key; " + own},
          {{"FAST_BUDGET", "8000"}, {"FAST_SHARE_MEMORY", "never"}});
  EXPECT_EQ(result.code, 0) << result.out << result.err;
}

TEST(RunKeysTest, WhereNoKeysCanBeMadeOneLineSaysWhyAndWhatToDo) {
  const ProgramResult result = run({}, {"true"}, {{"TMPDIR", "/no/such/folder"}});
  EXPECT_EQ(result.code, 4) << result.err;
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("the run's keys"), HasSubstr("--keys"), HasSubstr("--insecure")));
}

TEST(RunKeysTest, AResumedRunKeepsItsKeysAlsoWhereItHasBeenCopiedTo) {
  const TemporaryFolder folder;
  const fs::path out = folder.path() / "run", copy = folder.path() / "copy";
  Program program(FAST_PROGRAM, train(out, {"--epochs", "100000", "--checkpoint-every", "0.1"}));
  const RunWatch watch(out);
  ASSERT_TRUE(program.wait_until(
      [&] {
        return watch.all_train(2) && fs::exists(out / "worker-0" / "checkpoint.safetensors") &&
               fs::exists(out / "worker-1" / "checkpoint.safetensors");
      },
      kPatience))
      << program.err();
  program.signal(SIGTERM);
  EXPECT_EQ(program.wait(kPatience).code, 130) << program.err();
  const std::string key = read_text(out / "run-keys" / "rank-0.key");
  ASSERT_NE(key, "");
  EXPECT_THAT(read_text(out / "config.toml"), HasSubstr("--run-keys " + out.string()));
  ASSERT_EQ(run_program("/bin/cp", {"-r", out.string(), copy.string()}).code, 0);
  fs::remove_all(out);
  Program resumed(FAST_PROGRAM, {"train", "--resume", copy.string(), "--quiet"});
  const RunWatch again(copy);
  const std::string words = "goes on from step ";
  ASSERT_TRUE(resumed.wait_until(
      [&] {
        return again.log(0).find(words) != std::string::npos &&
               again.log(1).find(words) != std::string::npos && again.all_train(2);
      },
      kPatience))
      << resumed.err();
  EXPECT_EQ(read_text(copy / "run-keys" / "rank-0.key"), key);
  resumed.signal(SIGTERM);
  EXPECT_EQ(resumed.wait(kPatience).code, 130) << resumed.err();
}

/// It would find no neighbour, and leave a checkpoint of another run in place of its own.
TEST(RunKeysTest, AWorkerThatIsStartedByHandWithoutThemIsToldWhereTheyAre) {
  const TemporaryFolder folder;
  const fs::path out = folder.path() / "run";
  const ProgramResult run = run_program(FAST_PROGRAM, train(out, {"--epochs", "2"}), {}, kPatience);
  ASSERT_EQ(run.code, 0) << run.err;
  const std::string life = read_text(out / "worker-1" / "life");
  const Strings by_hand = {"--config", (out / "config.toml").string(), "--rank", "1"};
  const ProgramResult result = run_program(FAST_WORKER, by_hand, {}, kPatience);
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr((out / "config.toml").string()),
                                HasSubstr("--run-keys " + (out / "run-keys").string())));
  EXPECT_EQ(read_text(out / "worker-1" / "life"), life) << "it has begun";
}

TEST(RunKeysTest, AnInsecureRunHasNone) {
  const TemporaryFolder folder;
  const fs::path out = folder.path() / "run";
  const ProgramResult result =
      run_program(FAST_PROGRAM, train(out, {"--epochs", "2", "--insecure"}), {}, kPatience);
  EXPECT_FALSE(fs::exists(out / "run-keys")) << result.err;
  EXPECT_THAT(read_text(out / "config.toml"), HasSubstr("insecure = true"));
}

}  // namespace
}  // namespace fast::testing
