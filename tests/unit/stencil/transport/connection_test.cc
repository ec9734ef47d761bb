#include "stencil/transport/stream/connection.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <string>

#include "tests/support/stream_bytes.h"

namespace stencil {
namespace {

using fast::testing::framed;
using fast::testing::greeting;

TEST(Connection, OfOneThatSendsWithoutEndALittleIsDroppedAtATimeOnceItIsLeft) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
  const Descriptor other(ends[1]);
  BucketPool payloads;
  Connection connection(Descriptor(ends[0]), Connection::State::kOpen, {}, payloads);
  std::string bytes = greeting();
  for (int i = 0; i < 1000; ++i) bytes += framed("abc", std::string(50, 'x'));
  ASSERT_EQ(::send(other.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  connection.on_readable();
  connection.leave();
  int calls = 0;
  do {
    EXPECT_FALSE(connection.receive()) << "what comes after leave() is dropped";
    ++calls;
  } while (connection.has_more());
  EXPECT_GE(calls, 10) << "others would have to wait for all that it sends";
}

}  // namespace
}  // namespace stencil
