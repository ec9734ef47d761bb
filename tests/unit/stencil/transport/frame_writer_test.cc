#include "stencil/transport/stream/frame_writer.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

namespace stencil {
namespace {

Frame frame(char name, std::size_t payload, bool urgent = false) {
  Frame frame;
  frame.header.push_back(static_cast<std::byte>(name));
  if (payload > 0) frame.payload = Payload(Bytes(payload, static_cast<std::byte>(name)));
  frame.urgent = urgent;
  return frame;
}

/// A writer's socket, and the names of the frames that come out at its other end.
class Line {
 public:
  Line() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends_), 0); }
  ~Line() {
    for (const int end : ends_) ::close(end);
  }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  [[nodiscard]] int socket() const { return ends_[0]; }

  std::string drain(FrameWriter& writer) {
    std::string names;
    do {
      while (read()) {
        while (std::optional<Frame> frame = reader_.next()) {
          names += static_cast<char>(frame->header.front());
          const auto payload = view(frame->payload);
          EXPECT_TRUE(std::ranges::all_of(payload, [&](std::byte byte) {
            return byte == frame->header.front();
          })) << "a frame in the middle of another";
        }
      }
    } while (writer.flush(socket()) != FrameWriter::Outcome::kAll || read());
    return names;
  }

 private:
  bool read() {
    const auto room = reader_.room();
    const std::span<std::byte> into = room.front().empty() ? room.back() : room.front();
    const ssize_t size = ::recv(ends_[1], into.data(), into.size(), 0);
    if (size > 0) reader_.filled(static_cast<std::size_t>(size));
    return size > 0;
  }

  int ends_[2] = {-1, -1};
  BucketPool payloads_;
  FrameReader reader_{100, 4'000'000, payloads_};
};

TEST(FrameWriter, UrgentFramesGoBeforeThePayloadsThatWait) {
  Line line;
  FrameWriter writer(10);
  writer.push(frame('a', 1'000'000));
  ASSERT_EQ(writer.flush(line.socket()), FrameWriter::Outcome::kSome) << "half of it is sent";
  writer.push(frame('b', 1000));
  writer.push(frame('c', 0));
  writer.push(frame('d', 1000));
  writer.push(frame('e', 1000));
  writer.push(frame('U', 0, true));
  writer.push(frame('V', 0, true));
  writer.push(frame('f', 1000));
  EXPECT_EQ(line.drain(writer), "abcUVdef") << "but not before c, which has no payload either";
  EXPECT_TRUE(writer.empty());
}

TEST(FrameWriter, AFullLineTakesAFewUrgentFrames) {
  Line line;
  FrameWriter writer(2);
  writer.push(frame('a', 1'000'000));
  ASSERT_EQ(writer.flush(line.socket()), FrameWriter::Outcome::kSome);
  writer.push(frame('b', 1000));
  EXPECT_TRUE(writer.full());
  std::string urgent;
  while (!writer.full(true)) {
    ASSERT_LT(urgent.size(), 100U) << "a queue without a bound";
    urgent += static_cast<char>('A' + static_cast<char>(urgent.size()));
    writer.push(frame(urgent.back(), 0, true));
  }
  EXPECT_GE(urgent.size(), 4U);
  EXPECT_EQ(line.drain(writer), "a" + urgent + "b");
}

TEST(FrameWriter, WritesAreNoLargerThanAPiece) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
  FrameWriter writer(10);
  for (const char name : {'a', 'b', 'c'}) writer.push(frame(name, 2500));
  const std::size_t all = kGreeting.size() + 3 * (sizeof(FrameLengths) + 1 + 2500);
  ASSERT_EQ(writer.flush(ends[0], 1000), FrameWriter::Outcome::kAll);
  std::vector<std::byte> record(10'000);
  std::size_t sum = 0;
  for (ssize_t size = 0; (size = ::recv(ends[1], record.data(), record.size(), 0)) > 0;) {
    EXPECT_LE(size, 1000) << "after " << sum;
    sum += static_cast<std::size_t>(size);
  }
  EXPECT_EQ(sum, all);
  for (const int end : ends) ::close(end);
}

TEST(FrameWriter, AClosedSocketIsBrokenAndKillsNobody) {
  FrameWriter writer(2);
  Line line;
  ::shutdown(line.socket(), SHUT_WR);
  writer.push(frame('a', 10));
  EXPECT_EQ(writer.flush(line.socket()), FrameWriter::Outcome::kBroken);
}

}  // namespace
}  // namespace stencil
