#include "stencil/shared/unix_meeting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "stencil/shared/packet.h"
#include "tests/support/descriptors.h"
#include "tests/support/send_descriptors.h"

namespace stencil {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// The meeting part of a worker: ranks 0 and 1, neighbours of one another.
struct Worker {
  explicit Worker(Rank rank, std::size_t floats = 100)
      : layout(Layout::flat(floats, 30)),
        segment(layout, rank, Segment::Reach::kShared),
        meeting(layout, rank, segment,
                [this](LogLevel, std::string_view text) { log.emplace_back(text); }) {}
  Layout layout;
  Segment segment;
  std::vector<std::string> log;
  UnixMeeting meeting;
};

TEST(Meeting, neighbours_come_to_share_whoever_hears_of_the_other_first) {
  for (const bool listener_first : {true, false}) {
    Worker low(0), high(1);
    if (listener_first) low.meeting.meet(1, high.meeting.token());
    high.meeting.meet(0, low.meeting.token());
    low.meeting.poll();
    high.meeting.poll();
    if (!listener_first) {
      EXPECT_EQ(low.meeting.find(1), nullptr) << "nobody has said yet whose segment this is";
      low.meeting.meet(1, high.meeting.token());
    }
    ASSERT_NE(low.meeting.find(1), nullptr);
    ASSERT_NE(high.meeting.find(0), nullptr);
    low.segment.y()[7] = 5;
    EXPECT_EQ(high.meeting.find(0)->y()[7], 5);
    high.segment.p()[8] = 6;
    EXPECT_EQ(low.meeting.find(1)->p()[8], 6);
    EXPECT_THAT(low.log, ElementsAre(HasSubstr("neighbour 1: exchanging in shared memory")));
    low.meeting.forget(1);
    EXPECT_EQ(low.meeting.find(1), nullptr);
  }
}

TEST(Meeting, one_that_was_restarted_is_met_anew) {
  Worker low(0);
  auto high = std::make_unique<Worker>(1);
  const auto meet = [&] {
    low.meeting.meet(1, high->meeting.token());
    high->meeting.meet(0, low.meeting.token());
    low.meeting.poll();
    high->meeting.poll();
  };
  meet();
  ASSERT_NE(low.meeting.find(1), nullptr);
  high = std::make_unique<Worker>(1);
  // It dials before its Hello has announced the new life.
  high->meeting.meet(0, low.meeting.token());
  low.meeting.poll();
  low.meeting.forget(1);
  EXPECT_EQ(low.meeting.find(1), nullptr);
  meet();
  ASSERT_NE(low.meeting.find(1), nullptr);
  EXPECT_EQ(low.meeting.find(1)->id(), high->segment.id());
  EXPECT_EQ(high->meeting.find(0)->id(), low.segment.id());
}

TEST(Meeting, without_descriptors_is_said_once_and_keeps_nobody_awake) {
  Worker low(0), high(1);
  low.meeting.meet(1, high.meeting.token());
  high.meeting.meet(0, low.meeting.token());
  {
    const fast::testing::NoDescriptorsLeft none;
    for (int i = 0; i < 3; ++i) low.meeting.poll();
  }
  EXPECT_THAT(low.log, ElementsAre(HasSubstr("raise ulimit -n")));
  pollfd waiting{low.meeting.descriptor(), POLLIN, 0};
  EXPECT_EQ(::poll(&waiting, 1, 0), 0) << "nobody is let in, yet the loop is woken";
  EXPECT_EQ(low.meeting.find(1), nullptr);
}

TEST(Meeting, that_fails_is_said_once_and_leaves_the_edge_to_the_network) {
  Worker low(0), other(1, 200);
  auto gone = std::make_unique<Worker>(0);
  const std::string elsewhere = gone->meeting.token();
  gone.reset();
  Worker high(1);
  for (int i = 0; i < 3; ++i) high.meeting.meet(0, elsewhere);
  EXPECT_THAT(high.log, ElementsAre(HasSubstr("neighbour 0: no shared memory")));
  EXPECT_EQ(high.meeting.find(0), nullptr);

  other.meeting.meet(0, low.meeting.token());  // another model
  low.meeting.meet(1, other.meeting.token());
  low.meeting.poll();
  other.meeting.poll();
  EXPECT_EQ(low.meeting.find(1), nullptr);
  EXPECT_EQ(other.meeting.find(0), nullptr);
  EXPECT_THAT(low.log, ElementsAre(HasSubstr("no shared memory")));

  for (const char* token :
       {"x", "0123456789abcdef0123456789abcdeg", "-123456789abcdef+123456789abcdef"}) {
    Worker fresh(1);
    fresh.meeting.meet(0, token);
    EXPECT_THAT(fresh.log, ElementsAre(HasSubstr("no shared memory"))) << token;
  }
}

/// Dials as any process on this host could that lists the names of sockets.
int dial(const std::string& token) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const std::string text = "fast-" + token.substr(0, 16);
  std::copy(text.begin(), text.end(), name.sun_path + 1);
  const int fd = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&name), size), 0);
  return fd;
}

TEST(Meeting, a_stranger_gets_nothing) {
  Worker low(0), high(1);
  const std::string token = low.meeting.token();
  const int garbage = dial(token);
  ASSERT_EQ(::send(garbage, "hello", 5, 0), 5);
  const int silent = dial(token);
  // Knows the name but not the secret.
  std::string guessed = token;
  guessed.back() = guessed.back() == '0' ? '1' : '0';
  high.meeting.meet(0, guessed);
  low.meeting.poll();
  high.meeting.poll();
  char byte = 0;
  EXPECT_EQ(::recv(garbage, &byte, 1, MSG_DONTWAIT), 0) << "the connection should have ended";
  EXPECT_EQ(::recv(silent, &byte, 1, MSG_DONTWAIT), -1);
  EXPECT_EQ(high.meeting.find(0), nullptr);
  EXPECT_THAT(high.log, ElementsAre(HasSubstr("it gave no segment")));
  EXPECT_THAT(low.log, IsEmpty());

  std::vector<int> crowd;
  for (std::size_t i = 0; i < UnixMeeting::kMaxStrangers; ++i) crowd.push_back(dial(token));
  low.meeting.poll();
  EXPECT_EQ(::recv(silent, &byte, 1, MSG_DONTWAIT), 0) << "the oldest of too many goes";
  for (const int fd : crowd) ::close(fd);
  ::close(garbage);
  ::close(silent);
  low.meeting.poll();

  Worker honest(1);
  honest.meeting.meet(0, token);
  low.meeting.meet(1, honest.meeting.token());
  pollfd ready{low.meeting.descriptor(), POLLIN, 0};
  EXPECT_EQ(::poll(&ready, 1, 0), 1);
  low.meeting.poll();
  honest.meeting.poll();
  EXPECT_NE(low.meeting.find(1), nullptr);
  EXPECT_NE(honest.meeting.find(0), nullptr);
}

/// Sends what a neighbour would send, with this many descriptors.
void say(int connection, const Packet& packet, std::size_t descriptors) {
  ASSERT_TRUE(
      test::send_with_descriptors(connection, std::as_bytes(std::span(&packet, 1)), descriptors));
}

/// Because of alignment, room for one descriptor has room for two: none of them may stay open.
TEST(Meeting, descriptors_that_come_amiss_are_closed) {
  Worker low(0);
  const int before = test::next_descriptor();
  for (const std::size_t count : {0U, 1U, 2U, 3U, 10U}) {
    for (const bool known : {false, true}) {
      const int stranger = dial(low.meeting.token());
      say(stranger, Packet{.magic = known ? Packet::kMagic : 1, .secret = 7, .rank = 1}, count);
      low.meeting.poll();
      char byte = 0;
      EXPECT_EQ(::recv(stranger, &byte, 1, MSG_DONTWAIT), 0) << "the connection should have ended";
      ::close(stranger);
      EXPECT_EQ(test::next_descriptor(), before) << count;
    }
  }
}

TEST(Meeting, neighbours_without_end_come_to_share_even_all_at_once) {
  Worker low(0);
  std::vector<std::unique_ptr<Worker>> others;
  for (Rank rank = 1; rank <= 40; ++rank) {
    others.push_back(std::make_unique<Worker>(rank));
    others.back()->meeting.meet(0, low.meeting.token());
    low.meeting.meet(rank, others.back()->meeting.token());
  }
  low.meeting.poll();
  for (Rank rank = 1; rank <= 40; ++rank) {
    Worker& other = *others[static_cast<std::size_t>(rank) - 1];
    other.meeting.poll();
    EXPECT_NE(other.meeting.find(0), nullptr) << rank;
    EXPECT_NE(low.meeting.find(rank), nullptr) << rank;
  }
}

TEST(Meeting, who_finds_no_room_to_wait_dials_again) {
  Worker low(0), high(1);
  std::vector<int> crowd;
  for (int i = 0; i <= UnixMeeting::kBacklog; ++i) crowd.push_back(dial(low.meeting.token()));
  high.meeting.meet(0, low.meeting.token());
  low.meeting.meet(1, high.meeting.token());
  EXPECT_THAT(high.log, IsEmpty());
  pollfd more{low.meeting.descriptor(), POLLIN, 0};
  while (high.meeting.find(0) == nullptr) {
    ASSERT_EQ(::poll(&more, 1, 10'000), 1) << "nobody is let in any more";
    low.meeting.poll();
    high.meeting.poll();
  }
  EXPECT_NE(low.meeting.find(1), nullptr);
  for (const int fd : crowd) ::close(fd);
}

TEST(Meeting, a_crowd_is_let_in_bit_by_bit_so_that_one_that_comes_for_ever_holds_nobody_up) {
  Worker low(0);
  std::vector<int> crowd;
  for (int i = 0; i <= UnixMeeting::kMostAtOnce; ++i) crowd.push_back(dial(low.meeting.token()));
  const auto ended = [&] {
    return std::ranges::count_if(crowd, [](int fd) {
      char byte = 0;
      return ::recv(fd, &byte, 1, MSG_DONTWAIT) == 0;
    });
  };
  constexpr auto kKept = static_cast<int>(UnixMeeting::kMaxStrangers);
  low.meeting.poll();
  EXPECT_EQ(ended(), UnixMeeting::kMostAtOnce - kKept);
  low.meeting.poll();
  EXPECT_EQ(ended(), UnixMeeting::kMostAtOnce - kKept) << "it is not heard for a while";
  pollfd more{low.meeting.descriptor(), POLLIN, 0};
  ASSERT_EQ(::poll(&more, 1, 10'000), 1) << "nobody is let in any more";
  low.meeting.poll();
  EXPECT_EQ(ended(), UnixMeeting::kMostAtOnce + 1 - kKept);
  for (const int fd : crowd) ::close(fd);
}

TEST(Meeting, leaves_no_descriptor_behind) {
  const int before = test::next_descriptor();
  for (int i = 0; i < 3; ++i) {
    Worker low(0), high(1);
    high.meeting.meet(0, low.meeting.token());
    low.meeting.poll();
    if (i > 0) low.meeting.meet(1, high.meeting.token());
    if (i > 1) high.meeting.poll();
  }
  EXPECT_EQ(test::next_descriptor(), before);
}

}  // namespace
}  // namespace stencil
