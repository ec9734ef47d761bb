#include "fast/options/security.h"

#include <gmock/gmock.h>

#include "fast/errors.h"

namespace fast {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string error_of(const SessionOptions& options) {
  try {
    check_security(options, stencil::as_flag);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(Security, only_this_host_reaches_what_listens_on_the_loopback_or_on_a_path) {
  for (const char* const near :
       {"", "tcp://127.0.0.1:0", "tcp://127.8.9.1:5555", "tcp://localhost:5555", "tcp://[::1]:5555",
        "tcp://[::ffff:127.0.0.1]:5555", "ipc:///tmp/worker", "inproc://worker"}) {
    EXPECT_FALSE(beyond_loopback(near)) << near;
    EXPECT_EQ(error_of({.listen = near}), "") << near;
  }
  for (const char* const far :
       {"tcp://*:5555", "tcp://0.0.0.0:5555", "tcp://[::]:5555", "tcp://10.0.0.1:5555",
        "tcp://node1:5555", "tcp://eth0:5555", "tcp://128.0.0.1:1", "tcp://127.0.0.1.evil.org:1",
        "tcp://[::ffff:10.0.0.1]:1", "tcp://[fe80::1%eth0]:1", "tcp://:5555", "nonsense"}) {
    EXPECT_TRUE(beyond_loopback(far)) << far;
  }
}

TEST(Security, to_listen_to_other_hosts_without_keys_has_to_be_asked_for) {
  EXPECT_THAT(
      error_of({.listen = "tcp://0.0.0.0:5555"}),
      AllOf(HasSubstr("'tcp://0.0.0.0:5555'"), HasSubstr("--keys"), HasSubstr("--insecure")));
  EXPECT_EQ(error_of({.listen = "tcp://0.0.0.0:5555", .insecure = true}), "");
  EXPECT_EQ(error_of({.listen = "tcp://0.0.0.0:5555", .keys = "keys"}), "");
  EXPECT_EQ(error_of({.listen = "tcp://0.0.0.0:5555", .key = "a.key", .public_keys = "b"}), "");
}

TEST(Security, a_folder_or_two_files_say_where_keys_are) {
  EXPECT_FALSE(key_files({}));
  EXPECT_EQ(key_files({.rank = 3, .keys = "dir"})->key, "dir/rank-3.key");
  EXPECT_EQ(key_files({.rank = 3, .keys = "dir"})->public_keys, "dir/public.keys");
  EXPECT_EQ(key_files({.key = "my.key", .public_keys = "all.keys"})->key, "my.key");
  EXPECT_THAT(error_of({.key = "my.key"}), HasSubstr("--key is given without --public-keys"));
  EXPECT_THAT(error_of({.public_keys = "all"}), HasSubstr("--public-keys is given without --key"));
  EXPECT_THAT(error_of({.keys = "dir", .key = "my.key", .public_keys = "all"}),
              HasSubstr("--keys and --key are both given"));
}

TEST(Security, every_transport_takes_keys) {
  for (const char* const transport : {"auto", "zmq", "tcp"}) {
    SessionOptions options{.listen = "*:5555", .keys = "dir"};
    options.exchange.transport = transport;
    EXPECT_EQ(error_of(options), "") << transport;
  }
}

TEST(Security, keys_of_a_launcher_serve_where_nothing_else_is_said) {
  EXPECT_EQ(key_files({.rank = 3, .run_keys = "run"})->key, "run/rank-3.key");
  EXPECT_EQ(key_files({.keys = "dir", .run_keys = "run"})->public_keys, "dir/public.keys");
  EXPECT_EQ(key_files({.key = "my.key", .public_keys = "all", .run_keys = "run"})->key, "my.key");
  EXPECT_FALSE(key_files({.run_keys = "run", .insecure = true}));
  EXPECT_TRUE(key_files({.listen = "", .run_keys = "run"}));
  EXPECT_TRUE(key_files({.listen = "ipc:///tmp/worker", .run_keys = "run"}));
}

}  // namespace
}  // namespace fast
