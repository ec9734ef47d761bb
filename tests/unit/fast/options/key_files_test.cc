#include "fast/options/key_files.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "fast/errors.h"
#include "tests/support/key_rings.h"

namespace fast {
namespace {

using stencil::test::KeyPair;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string open_text(std::uint8_t pair) {
  return text(KeyPair(pair).open);
}

/// The text of pair's key file.
std::string secret_file(std::uint8_t pair) {
  fast::KeyPair keys;
  keys.secret = stencil::SecretKey(KeyPair(pair).secret);
  keys.open = KeyPair(pair).open;
  return key_file_text(keys, 7);
}

/// What `read` throws; "" where it throws nothing.
template <typename Read>
std::string error_of(Read read) {
  try {
    (void)read();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

std::string public_error(const std::string& text) {
  return error_of([&] { return parse_public_keys(text, "public.keys"); });
}

TEST(KeyFiles, what_is_made_is_read) {
  const fast::KeyPair pair = make_key_pair(), other = make_key_pair();
  EXPECT_NE(pair.open, other.open);
  EXPECT_EQ(public_key_of(pair.secret), pair.open);
  const auto secret = parse_key_file(key_file_text(pair, 3), "rank-3.key");
  EXPECT_EQ(secret.bytes, pair.secret.bytes);
  const std::vector<stencil::PublicKey> open = {pair.open, other.open};
  EXPECT_EQ(parse_public_keys(public_keys_text(open), "public.keys"),
            (std::vector<std::vector<stencil::PublicKey>>{{pair.open}, {other.open}}));
}

TEST(KeyFiles, public_keys_may_have_comments_several_keys_a_rank_and_any_order) {
  const std::string text = "# ours\r\n\n  2\t" + open_text(12) + "   # the old one\n0 " +
                           open_text(10) + "\n2 " + open_text(22) + "\r\n   # end";
  const auto keys = parse_public_keys(text, "public.keys");
  ASSERT_EQ(keys.size(), 3U);
  EXPECT_EQ(keys[0], std::vector{KeyPair(10).open});
  EXPECT_TRUE(keys[1].empty());
  EXPECT_EQ(keys[2], (std::vector{KeyPair(12).open, KeyPair(22).open}));
}

TEST(KeyFiles, an_equal_line_that_stands_twice_counts_once) {
  const std::string line = "0 " + open_text(10) + "\n";
  EXPECT_EQ(parse_public_keys(line + "1 " + open_text(11) + "\n" + line, "public.keys"),
            (std::vector<std::vector<stencil::PublicKey>>{{KeyPair(10).open}, {KeyPair(11).open}}));
}

TEST(KeyFiles, what_is_wrong_is_named_with_file_line_value_and_remedy) {
  const std::string good = "0 " + open_text(10) + "\n";
  EXPECT_THAT(
      public_error(good + "one " + open_text(11)),
      AllOf(HasSubstr("public.keys:2: 'one' is no rank"), HasSubstr("begin the line with")));
  EXPECT_THAT(public_error("-1 " + open_text(10)), HasSubstr("public.keys:1: '-1' is no rank"));
  EXPECT_THAT(public_error("1048576 " + open_text(10)), HasSubstr("0 to 1048575"));
  EXPECT_THAT(public_error("1x " + open_text(10)), HasSubstr("'1x' is no rank"));
  EXPECT_THAT(public_error("# keys\n\n1 abc"),
              AllOf(HasSubstr("public.keys:3: 'abc' is no public key"), HasSubstr("RANK KEY")));
  EXPECT_THAT(public_error("1"), HasSubstr("public.keys:1: '' is no public key"));
  EXPECT_THAT(public_error(good + "1 " + open_text(11) + " 2"),
              HasSubstr("public.keys:2: something follows the key"));
  EXPECT_THAT(public_error(good + "3 " + open_text(10)),
              AllOf(HasSubstr("public.keys:2"), HasSubstr("stands in line 1 too, for rank 0")));
  EXPECT_THAT(public_error("# nothing\n"), HasSubstr("public.keys holds no public key"));
}

TEST(KeyFiles, a_wrong_key_file_is_named_and_never_shown) {
  const auto error = [](const std::string& text) {
    return error_of([&] { return parse_key_file(text, "rank-1.key"); });
  };
  EXPECT_THAT(error(""), HasSubstr("rank-1.key holds no secret key"));
  EXPECT_THAT(
      error_of([] { return parse_key_file("#", "/run/credentials/f@mnist.service/mnist.key"); }),
      AllOf(HasSubstr("/etc/fast/mnist.key"), HasSubstr("LoadCredential=")));
  for (const std::string line : {"secret almost-a-key", "secrecy almost-a-key", "almost-a-key",
                                 "secret", "1 almost-a-key"}) {
    EXPECT_THAT(error("# 1\n" + line), AllOf(HasSubstr("rank-1.key:2: no secret key"),
                                             HasSubstr("'secret KEY'"), Not(HasSubstr("almost"))))
        << line;
  }
  EXPECT_THAT(error(secret_file(10) + secret_file(11)), HasSubstr("rank-1.key:6: a second line"));
  EXPECT_THAT(error("secret " + std::string(40, '0') + " more"), HasSubstr("no secret key"));
}

TEST(KeyFiles, a_secret_is_its_owners_alone_or_roots_and_the_group_that_root_gave_it) {
  EXPECT_FALSE(open_to_others(S_IFREG | 0600, 1000));
  EXPECT_FALSE(open_to_others(0400, 1000));
  EXPECT_FALSE(open_to_others(0600, 0));
  EXPECT_FALSE(open_to_others(0440, 0)) << "as Kubernetes mounts secrets, for root too";
  for (const mode_t mode : {0640, 0604, 0644, 0610, 0601, 0602, 0620, 0777}) {
    EXPECT_TRUE(open_to_others(mode, 1000)) << mode;
    EXPECT_EQ(open_to_others(mode, 0), mode != 0640) << mode;
  }
}

class KeyFolder : public ::testing::Test {
 protected:
  KeyFolder() {
    std::string pattern = ::testing::TempDir() + "/keys-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    for (const int rank : {0, 1}) {
      write(KeyFiles::in_folder(folder_, rank).key, secret_file(10 + rank), 0600);
    }
    write_public("0 " + open_text(10) + "\n1 " + open_text(11) + "\n2 " + open_text(12) + "\n");
  }
  ~KeyFolder() override { std::filesystem::remove_all(folder_); }

  static void write(const std::string& file, const std::string& text, mode_t mode) {
    std::ofstream(file) << text;
    ::chmod(file.c_str(), mode);
  }
  void write_public(const std::string& text) { write(folder_ + "/public.keys", text, 0644); }
  std::string error(int rank, std::vector<stencil::Rank> neighbours = {0, 2}) {
    return error_of(
        [&] { return read_keys(KeyFiles::in_folder(folder_, rank), rank, neighbours); });
  }

  std::string folder_;
};

TEST_F(KeyFolder, holds_what_a_worker_goes_by) {
  const std::vector<stencil::Rank> neighbours = {0, 2};
  const auto ring = read_keys(KeyFiles::in_folder(folder_, 1), 1, neighbours);
  EXPECT_EQ(ring->own_public, KeyPair(11).open);
  EXPECT_EQ(ring->own_secret.bytes, KeyPair(11).secret);
  EXPECT_EQ(ring->rank_of(KeyPair(12).open), 2);
}

TEST_F(KeyFolder, a_key_that_others_may_read_is_refused_with_the_remedy) {
  const std::string file = folder_ + "/rank-1.key";
  ::chmod(file.c_str(), 0644);
  EXPECT_THAT(error(1), AllOf(HasSubstr("others may read the secret key in " + file),
                              HasSubstr("mode is 0644"),
                              HasSubstr(::geteuid() == 0 ? "defaultMode: 0400" : "chmod 600")));
  ::chmod(file.c_str(), 0600);
  EXPECT_EQ(error(1), "");
}

TEST_F(KeyFolder, a_file_that_is_not_there_or_none_is_named) {
  EXPECT_THAT(error(3),
              AllOf(HasSubstr("rank-3.key"), HasSubstr("No such file"), HasSubstr("fast keys")));
  std::filesystem::remove(folder_ + "/public.keys");
  EXPECT_THAT(error(1), AllOf(HasSubstr("public.keys"), HasSubstr("No such file")));
  std::filesystem::create_directory(folder_ + "/public.keys");
  EXPECT_THAT(error(1), HasSubstr("it is no file"));
  std::filesystem::remove(folder_ + "/rank-1.key");
  ASSERT_EQ(::mkfifo((folder_ + "/rank-1.key").c_str(), 0600), 0);
  EXPECT_THAT(error(1), HasSubstr("it is no file")) << "and nothing was waited for";
}

TEST_F(KeyFolder, a_key_of_another_rank_or_of_nobody_is_named) {
  write(folder_ + "/rank-2.key", secret_file(11), 0600);
  EXPECT_THAT(error(2),
              AllOf(HasSubstr("rank-2.key is the key of rank 1"), HasSubstr("this is rank 2")));
  write(folder_ + "/rank-2.key", secret_file(99), 0600);
  EXPECT_THAT(error(2), AllOf(HasSubstr("does not hold the public key of"),
                              HasSubstr("add the line '2 " + open_text(99) + "'")));
}

TEST_F(KeyFolder, a_neighbour_without_a_key_is_named) {
  EXPECT_THAT(error(1, {0, 2, 3}),
              AllOf(HasSubstr("no key of rank 3, a neighbour of rank 1"), HasSubstr("add a line")));
}

}  // namespace
}  // namespace fast
