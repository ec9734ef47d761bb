#include <poll.h>
#include <sys/resource.h>

#include <fstream>

#include "stencil/core/random.h"
#include "tests/contract/transport/transport_contract.h"
#include "tests/support/descriptors.h"
#include "tests/support/stream_bytes.h"

namespace stencil::contract {
namespace {

using fast::testing::framed;
using fast::testing::greeting;
using fast::testing::lengths;
using fast::testing::NoDescriptorsLeft;
using fast::testing::RawConnection;

std::uint64_t peak_kilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmPeak:")) return std::stoull(line.substr(7));
  }
  return 0;
}

class Strangers : public TransportTest {
 protected:
  Strangers() {
    TransportOptions options;
    options.listen = "tcp://127.0.0.1:0";
    server_ = make(options);
    friend_ = make();
    link_ = friend_->dial(server_->endpoint());
    expect_friend_is_heard();
  }

  void expect_friend_is_heard() {
    send_in_time(*friend_, link_, numbered_frame(++number_, 100));
    const Received received = expect_frame(*server_);
    expect_numbered(received.frame, number_, 100);
    if (friends_link_ == 0) friends_link_ = received.link;
    EXPECT_EQ(received.link, friends_link_);
  }

  /// Only the count may show them.
  void expect_strangers(std::uint64_t count) {
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    do {
      const auto received = server_->receive();
      EXPECT_FALSE(received.has_value());
      if (server_->stats().strangers >= count) break;
    } while (wait(deadline));
    EXPECT_EQ(server_->stats().strangers, count);
  }

  std::unique_ptr<Transport> server_, friend_;
  LinkId link_ = 0, friends_link_ = 0;
  std::uint64_t number_ = 0;
};

TEST_F(Strangers, GarbageIsCountedAndHarmsNobody) {
  const auto seed =
      static_cast<std::uint64_t>(::testing::UnitTest::GetInstance()->random_seed()) + 1;
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  std::string noise(100000, '\0');
  for (char& byte : noise) byte = static_cast<char>(random.next());
  noise.replace(0, 3, greeting().substr(0, 3));
  std::uint64_t count = 0;
  for (const std::string& bytes :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(), noise, greeting().substr(0, 7),
        greeting(), greeting() + lengths(8, 100).substr(0, 5), greeting() + lengths(8, 100),
        greeting() + lengths(8, 100) + "half a frame", greeting() + noise.substr(3),
        greeting() + std::string(100, '\xff')}) {
    { RawConnection(server_->endpoint()).write(bytes); }
    SCOPED_TRACE("stranger " + std::to_string(count));
    expect_strangers(++count);
    expect_friend_is_heard();
  }
}

TEST_F(Strangers, AFrameThatClaimsFourGigabytesReservesNothing) {
  const std::uint64_t before = peak_kilobytes();
  ASSERT_GT(before, 0U);
  const RawConnection payload(server_->endpoint()), header(server_->endpoint());
  payload.write(greeting() + lengths(8, 0xFFFFFFFF) + std::string(100, 'x'));
  expect_strangers(1);
  header.write(greeting() + lengths(0xFFFFFFFF, 8) + std::string(100, 'x'));
  expect_strangers(2);
  expect_friend_is_heard();
  EXPECT_LT(peak_kilobytes() - before, 1U << 20);
}

TEST_F(Strangers, OfHalfPayloadsNoMoreAreHeldThanAllowed) {
  constexpr std::size_t kAllowed = 4, kMore = 3;
  TransportOptions options;
  options.listen = "tcp://127.0.0.1:0";
  options.max_partial_payloads = kAllowed;
  server_ = make(options);
  friends_link_ = 0;
  link_ = friend_->dial(server_->endpoint());
  expect_friend_is_heard();
  const std::string half = greeting() + lengths(8, 100'000) + std::string(8 + 50'000, 'x');
  std::vector<std::unique_ptr<RawConnection>> strangers;
  for (std::size_t i = 0; i < kAllowed; ++i) {
    strangers.push_back(std::make_unique<RawConnection>(server_->endpoint()));
    strangers.back()->write(half);
    expect_friend_is_heard();
  }
  // The first is heard of once more, so that others have stood still for longer.
  strangers.front()->write("x");
  expect_friend_is_heard();
  for (std::uint64_t i = 1; i <= kMore; ++i) {
    strangers.push_back(std::make_unique<RawConnection>(server_->endpoint()));
    strangers.back()->write(half);
    expect_strangers(i);
  }
  std::size_t hung_up = 0;
  for (const auto& stranger : strangers) {
    pollfd end{stranger->descriptor(), POLLRDHUP, 0};
    if (::poll(&end, 1, 0) == 1) {
      ++hung_up;
      EXPECT_NE(stranger, strangers.front()) << "it was not the one that stood still longest";
    }
  }
  EXPECT_EQ(hung_up, kMore);
  // What has begun may be ended.
  strangers.back()->write(std::string(50'000, 'x'));
  EXPECT_EQ(view(expect_frame(*server_).frame.payload).size(), 100'000U);
  expect_friend_is_heard();
}

TEST_F(Strangers, HalfPayloadsOfStrangersEndBeforeThoseOfWhoeverHasSentAFrame) {
  constexpr std::size_t kAllowed = 4;
  TransportOptions options;
  options.listen = "tcp://127.0.0.1:0";
  options.max_partial_payloads = kAllowed;
  server_ = make(options);
  const std::string half = lengths(8, 100'000) + std::string(8 + 50'000, 'x');
  const RawConnection known(server_->endpoint());
  known.write(greeting() + framed("abc", ""));
  const LinkId link = expect_frame(*server_).link;
  known.write(half);
  std::vector<std::unique_ptr<RawConnection>> strangers;
  for (std::uint64_t i = 1; i <= 2 * kAllowed; ++i) {
    strangers.push_back(std::make_unique<RawConnection>(server_->endpoint()));
    strangers.back()->write(greeting() + half);
    if (i >= kAllowed) expect_strangers(i - kAllowed + 1);
  }
  known.write(std::string(50'000, 'x'));
  EXPECT_EQ(expect_frame(*server_).link, link);
}

TEST_F(Strangers, WhoSendsAFrameIsALinkUntilItSendsAnythingElse) {
  const RawConnection connection(server_->endpoint());
  const std::string frame = framed("abc", "payload");
  for (const char byte : greeting() + frame) connection.write(std::string(1, byte));
  // The wire layer checks its content.
  const Received first = expect_frame(*server_);
  EXPECT_NE(first.link, friends_link_);
  EXPECT_EQ(first.frame.header.size(), 3U);
  EXPECT_EQ(view(first.frame.payload).size(), 7U);
  connection.write(frame + framed("", "") + lengths(0xFFFFFFFF, 0));
  EXPECT_EQ(expect_frame(*server_).link, first.link);
  const Received empty = expect_frame(*server_);
  EXPECT_TRUE(empty.frame.header.empty() && !empty.frame.payload);
  EXPECT_EQ(expect_event(*server_, LinkEvent::kDown).link, first.link);
  expect_friend_is_heard();
  EXPECT_EQ(server_->stats().strangers, 0U);
}

TEST_F(Strangers, WhoSaysNothingIsHungUpOnHoweverManyOthersCome) {
  const RawConnection silent(server_->endpoint());
  const auto deadline = std::chrono::steady_clock::now() + kDeadline;
  pollfd end{silent.descriptor(), POLLRDHUP, 0};
  std::uint64_t others = 0;
  while (::poll(&end, 1, 300) == 0) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "a stranger may stay for ever";
    RawConnection(server_->endpoint()).write("x");
    ++others;
    EXPECT_FALSE(server_->receive().has_value());
  }
  expect_strangers(others + 1);
  expect_friend_is_heard();
}

TEST_F(Strangers, TheSilentTakeAQuarterOfTheDescriptorsAtMost) {
  constexpr std::size_t kQuarter = 64, kMore = 8;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{.rlim_cur = 4 * kQuarter, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  server_ = make({.listen = "tcp://127.0.0.1:0"});
  ::setrlimit(RLIMIT_NOFILE, &before);
  std::vector<std::unique_ptr<RawConnection>> silent;
  for (std::size_t i = 0; i < kQuarter + kMore; ++i) {
    silent.push_back(std::make_unique<RawConnection>(server_->endpoint()));
    (void)server_->receive();
  }
  auto newcomer = make();
  send_in_time(*newcomer, newcomer->dial(server_->endpoint()), numbered_frame(1, 1));
  expect_numbered(expect_frame(*server_).frame, 1, 1);  // the others were accepted before it
  EXPECT_GE(server_->stats().strangers, kMore) << "they are hung up on at once";
  pollfd end{silent.front()->descriptor(), POLLRDHUP, 0};
  EXPECT_EQ(::poll(&end, 1, 0), 1) << "the one longest silent goes first";
}

TEST_F(Strangers, WithoutDescriptorsNewcomersWaitAndFriendsDoNot) {
  const RawConnection newcomer(server_->endpoint());
  {
    const NoDescriptorsLeft none;
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    do {
      EXPECT_FALSE(server_->receive().has_value());
    } while (server_->stats().strangers == 0 && wait(deadline));
    EXPECT_GT(server_->stats().strangers, 0U);
    expect_friend_is_heard();
  }
  newcomer.write(greeting() + framed("abc", ""));
  EXPECT_EQ(expect_frame(*server_).frame.header.size(), 3U);
  expect_friend_is_heard();
}

TEST_F(Strangers, ManyShortConnectionsLeaveNothingBehind) {
  for (int i = 0; i < 500; ++i) {
    RawConnection(server_->endpoint()).write("x");
    if (i % 50 == 49) expect_friend_is_heard();
  }
  expect_strangers(500);
}

}  // namespace
}  // namespace stencil::contract
