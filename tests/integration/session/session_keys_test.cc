// Sessions that prove their ranks by keys in files.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <mutex>

#include "fast/errors.h"
#include "fast/options/key_files.h"
#include "tests/integration/session/session_fixture.h"

namespace fast {
namespace {

using ::testing::HasSubstr;

class SessionKeysTest : public SessionTest {
 protected:
  SessionKeysTest() {
    std::string pattern = ::testing::TempDir() + "/session-keys-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~SessionKeysTest() override { std::filesystem::remove_all(folder_); }

  /// New pairs for `workers`, in a folder of this name.
  std::string make_keys(const std::string& name, int workers) {
    const std::string folder = folder_ + "/" + name;
    std::filesystem::create_directory(folder);
    std::vector<stencil::PublicKey> open;
    for (int rank = 0; rank < workers; ++rank) {
      const KeyPair pair = make_key_pair();
      open.push_back(pair.open);
      const std::string file = KeyFiles::in_folder(folder, rank).key;
      std::ofstream(file) << key_file_text(pair, rank);
      ::chmod(file.c_str(), 0600);
    }
    std::ofstream(folder + "/public.keys") << public_keys_text(open);
    return folder;
  }

  SessionOptions keyed(const std::string& topology, int rank, const std::string& keys) {
    SessionOptions out = options(topology, rank);
    out.keys = keys;
    out.log = [this, rank](LogLevel, std::string_view line) {
      const std::lock_guard lock(mutex_);
      said_.push_back(std::to_string(rank) + ": " + std::string(line));
    };
    return out;
  }
  int lines_with(const std::string& part) {
    const std::lock_guard lock(mutex_);
    return static_cast<int>(std::ranges::count_if(
        said_, [&part](const std::string& line) { return line.find(part) != line.npos; }));
  }

  std::string folder_;

 private:
  std::mutex mutex_;
  std::vector<std::string> said_;
};

/// Steps of both, until `done`; false after a minute.
bool train_until(Quadratic* worker, Session* session, const std::function<bool()>& done) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (std::chrono::steady_clock::now() < deadline) {
    for (int i = 0; i < 2; ++i) {
      worker[i].step();
      session[i].exchange({.samples = 1, .loss = 1});
    }
    if (done()) return true;
  }
  return false;
}

bool up(const Session& session) {
  return session.status().neighbours.at(0).link == LinkState::kUp;
}

TEST_F(SessionKeysTest, ThoseWithKeysAverage) {
  const std::string keys = make_keys("keys", 2);
  Quadratic worker[] = {Quadratic(0), Quadratic(1)};
  Session session[] = {Session(worker[0].adapter, keyed("ring:2", 0, keys)),
                       Session(worker[1].adapter, keyed("ring:2", 1, keys))};
  EXPECT_TRUE(train_until(worker, session, [&] {
    return session[0].status().counter("sweeps") > 10 && session[1].status().counter("sweeps") > 10;
  }));
  for (const Session& one : session) EXPECT_EQ(one.status().counter("unproven"), 0U);
}

TEST_F(SessionKeysTest, WhoHasNoKeyOrAStrangersIsNotHeard) {
  const std::string keys = make_keys("keys", 2), others = make_keys("others", 2);
  for (const std::string& theirs : {std::string(), others}) {
    Quadratic first(0), second(1);
    SessionOptions ours = keyed("ring:2", 0, keys), stranger = keyed("ring:2", 1, theirs);
    ours.exchange.start_deadline = stranger.exchange.start_deadline = 1;
    Session zero(first.adapter, ours), one(second.adapter, stranger);
    one.join();
    zero.join();
    EXPECT_NE(zero.status().neighbours.at(0).link, LinkState::kUp);
    EXPECT_GT(zero.status().counter("strangers"), 0U);
    EXPECT_EQ(lines_with(theirs.empty() ? "0: a stranger: whoever dialled us without a key"
                                        : "0: a stranger: whoever dialled another key than ours"),
              1);
    EXPECT_EQ(zero.status().counter("frames_received"), 0U);
    EXPECT_EQ(one.status().counter("frames_received"), 0U);
  }
}

TEST_F(SessionKeysTest, KeysThatAreWrongAreRefusedAtSetUp) {
  const std::string keys = make_keys("keys", 2);
  Quadratic worker(0);
  EXPECT_THROW(Session(worker.adapter, keyed("ring:3", 0, keys)), ConfigError)
      << "no key of rank 2";
  ::chmod((keys + "/rank-0.key").c_str(), 0644);
  EXPECT_THROW(Session(worker.adapter, keyed("ring:2", 0, keys)), ConfigError);
}

TEST_F(SessionKeysTest, KeysAreReplacedWorkerByWorkerWhileTheyTrain) {
  // Each worker has a folder of its own, as on separate hosts.
  const std::string old_keys = make_keys("old", 2), new_keys = make_keys("new", 2);
  std::vector<std::string> own;
  for (const int rank : {0, 1}) {
    own.push_back(folder_ + "/host-" + std::to_string(rank));
    std::filesystem::copy(old_keys, own.back());
  }
  const auto replace = [](const std::string& from, const std::string& to) {
    std::filesystem::copy_file(from, to + ".new");
    std::filesystem::rename(to + ".new", to);
  };
  Quadratic worker[] = {Quadratic(0), Quadratic(1)};
  Session session[] = {Session(worker[0].adapter, keyed("ring:2", 0, own[0])),
                       Session(worker[1].adapter, keyed("ring:2", 1, own[1]))};
  const auto sweeps = [&] { return session[0].status().counter("sweeps"); };
  ASSERT_TRUE(train_until(worker, session, [&] { return sweeps() > 10; }));

  const auto all_took_over = [&](int times) {
    const auto before = sweeps();
    return train_until(worker, session, [&] {
      return lines_with("0: keys were replaced") + lines_with("1: keys were replaced") >= times &&
             up(session[0]) && up(session[1]) && sweeps() > before + 10;
    });
  };
  for (const std::string& folder : own) {
    std::ofstream both(folder + "/public.keys", std::ios::app);
    both << std::ifstream(new_keys + "/public.keys").rdbuf();
  }
  ASSERT_TRUE(all_took_over(2));
  for (const int rank : {0, 1}) {
    const std::string name = "/rank-" + std::to_string(rank) + ".key";
    replace(new_keys + name, own[static_cast<std::size_t>(rank)] + name);
    ASSERT_TRUE(all_took_over(3 + rank)) << rank;
  }
  for (const std::string& folder : own) {
    replace(new_keys + "/public.keys", folder + "/public.keys");
  }
  ASSERT_TRUE(all_took_over(6));
  for (const Session& one : session) {
    EXPECT_EQ(one.status().counter("lost_in_flight"), 0U);
    EXPECT_EQ(one.status().counter("unproven"), 0U);
  }
}

}  // namespace
}  // namespace fast
