#include "fast/session/key_watch.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "fast/errors.h"
#include "tests/support/key_rings.h"

namespace fast {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class KeyWatchTest : public ::testing::Test {
 protected:
  KeyWatchTest() {
    std::string pattern = ::testing::TempDir() + "/watch-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    files_ = KeyFiles::in_folder(folder_, 0);
    replace(files_.key, secret_file(10));
    replace(files_.public_keys, public_keys({{0, 10}, {1, 11}}));
  }
  ~KeyWatchTest() override { std::filesystem::remove_all(folder_); }

  static std::string secret_file(std::uint8_t number) {
    const stencil::test::KeyPair pair(number);
    return key_file_text({pair.open, stencil::SecretKey(pair.secret)}, 0);
  }
  static std::string public_keys(const std::vector<std::pair<int, std::uint8_t>>& lines) {
    std::string out;
    for (const auto& [rank, pair] : lines) {
      out += std::to_string(rank) + " " + text(stencil::test::KeyPair(pair).open) + "\n";
    }
    return out;
  }
  /// Replaces a file as programs do that never leave a half-written file.
  void replace(const std::string& file, const std::string& text) {
    std::ofstream(file + ".new") << text;
    ::chmod((file + ".new").c_str(), 0600);
    std::filesystem::rename(file + ".new", file);
  }
  std::unique_ptr<KeyWatch> watch() {
    return std::make_unique<KeyWatch>(
        files_, 0, std::vector<stencil::Rank>{1},
        [this](stencil::LogLevel, std::string_view line) { said_.emplace_back(line); },
        std::chrono::milliseconds(1));
  }
  /// Polls until it holds; returns false after 20 s.
  static bool eventually(KeyWatch& watch,
                         const std::function<bool(const stencil::KeyRing&)>& holds) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < deadline) {
      if (holds(*watch.current())) return true;
      std::this_thread::yield();
    }
    return false;
  }

  std::string folder_;
  KeyFiles files_;
  std::vector<std::string> said_;
};

TEST_F(KeyWatchTest, keys_that_are_replaced_are_taken_over_and_said) {
  const auto keys = watch();
  const auto first = keys->current();
  EXPECT_EQ(first->own_public, stencil::test::KeyPair(10).open);
  replace(files_.public_keys, public_keys({{0, 10}, {0, 20}, {1, 11}, {1, 21}}));
  ASSERT_TRUE(eventually(*keys, [](const auto& ring) { return ring.of(1).size() == 2; }));
  replace(files_.key, secret_file(20));
  ASSERT_TRUE(eventually(
      *keys, [](const auto& ring) { return ring.own_public == stencil::test::KeyPair(20).open; }));
  EXPECT_EQ(first->own_public, stencil::test::KeyPair(10).open) << "whoever has it keeps it";
  EXPECT_THAT(said_, ElementsAre(HasSubstr("keys were replaced"), HasSubstr("keys were replaced")));
}

TEST_F(KeyWatchTest, wrong_files_change_nothing_and_are_said_once) {
  const auto keys = watch();
  const auto first = keys->current();
  replace(files_.key, "nonsense");
  ASSERT_TRUE(eventually(*keys, [this](const auto&) { return !said_.empty(); }));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(keys->current(), first);
  EXPECT_THAT(said_, ElementsAre(HasSubstr("keys stay as they were")));
  replace(files_.key, secret_file(10));
  ASSERT_TRUE(eventually(*keys, [&first](const auto& ring) { return &ring != first.get(); }));
}

TEST_F(KeyWatchTest, what_could_not_be_read_once_is_read_again) {
  const auto keys = watch();
  const auto told = [this](std::size_t lines) {
    return [this, lines](const auto&) { return said_.size() >= lines; };
  };
  // The same once with descriptors to spare: sanitizers take some where code runs for the first
  // time.
  std::filesystem::remove(files_.public_keys);
  ASSERT_TRUE(eventually(*keys, told(1)));
  replace(files_.public_keys, public_keys({{0, 10}, {1, 11}}));
  ASSERT_TRUE(eventually(*keys, told(2)));
  said_.clear();

  std::ofstream(files_.public_keys + ".new") << public_keys({{0, 10}, {1, 21}});
  rlimit usual{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &usual), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = usual.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  std::filesystem::rename(files_.public_keys + ".new", files_.public_keys);
  const bool failed = eventually(*keys, told(1));
  for (int i = 0; i < 100; ++i) (void)keys->current();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &usual), 0);
  ASSERT_TRUE(failed);
  EXPECT_TRUE(eventually(*keys, [](const auto& ring) {
    return !ring.rank_of(stencil::test::KeyPair(11).open);
  })) << "a key that was withdrawn speaks for nobody";
  EXPECT_THAT(said_, ElementsAre(HasSubstr("keys stay as they were"), HasSubstr("replaced")));
}

TEST_F(KeyWatchTest, files_that_are_left_alone_are_read_once) {
  const auto keys = watch();
  const auto first = keys->current();
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(keys->current(), first);
  EXPECT_THAT(said_, IsEmpty());
}

TEST_F(KeyWatchTest, a_link_to_other_files_is_followed) {
  std::filesystem::create_directory(folder_ + "/a");
  std::filesystem::create_directory(folder_ + "/b");
  for (const std::string place : {"a", "b"}) {
    const KeyFiles files = KeyFiles::in_folder(folder_ + "/" + place, 0);
    replace(files.key, secret_file(10));
    replace(files.public_keys, public_keys({{0, 10}, {1, place == "a" ? 11 : 21}}));
  }
  std::filesystem::create_directory_symlink(folder_ + "/a", folder_ + "/data");
  files_ = KeyFiles::in_folder(folder_ + "/data", 0);
  const auto keys = watch();
  std::filesystem::create_directory_symlink(folder_ + "/b", folder_ + "/data.new");
  std::filesystem::rename(folder_ + "/data.new", folder_ + "/data");
  EXPECT_TRUE(eventually(*keys, [](const auto& ring) {
    return ring.rank_of(stencil::test::KeyPair(21).open) == 1;
  })) << "as Kubernetes replaces a secret";
}

TEST_F(KeyWatchTest, who_must_have_a_key_follows_the_grid) {
  const auto keys = watch();
  keys->follow({2});
  replace(files_.public_keys, public_keys({{0, 10}, {2, 12}}));
  EXPECT_TRUE(eventually(*keys, [](const auto& ring) { return ring.of(1).empty(); }))
      << "the key of one that has left may go";
  keys->follow({1, 2});
  replace(files_.public_keys, public_keys({{0, 20}, {2, 12}}));
  replace(files_.key, secret_file(20));
  EXPECT_TRUE(eventually(*keys, [this](const auto&) { return said_.size() > 1; }));
  EXPECT_THAT(said_.back(), HasSubstr("keys stay as they were"));
}

TEST_F(KeyWatchTest, what_is_wrong_at_the_start_is_thrown) {
  replace(files_.key, "nonsense");
  EXPECT_THROW((void)watch(), ConfigError);
}

}  // namespace
}  // namespace fast
