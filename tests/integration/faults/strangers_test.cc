#include <gmock/gmock.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>

#include "stencil/wire/wire.h"
#include "tests/support/cifar_files.h"
#include "tests/support/faults.h"
#include "tests/support/stream_bytes.h"

namespace fast::testing {
namespace {

using ::testing::HasSubstr;

/// A stranger that knows how frames are sent.
class Stranger {
 public:
  explicit Stranger(int port) : connection_(port) {
    const timeval patience{10, 0};
    setsockopt(connection_.descriptor(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(connection_.descriptor(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    connection_.write(greeting());
  }

  void say(const std::string& header, const std::string& payload) {
    connection_.write(framed(header, payload));
  }
  void say(const stencil::Message& message) {
    const stencil::Frame frame = stencil::encode_frame(message);
    const auto text = [](std::span<const std::byte> bytes) {
      return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    };
    say(text({frame.header.data(), frame.header.size()}), text(stencil::view(frame.payload)));
  }

  /// The answer to a Hello: the text of a refusal, "" where none comes.
  std::string refusal() {
    for (;;) {
      while (std::optional<stencil::Frame> frame = reader_.next()) {
        stencil::Result<stencil::Message> message = stencil::decode_frame(*frame);
        if (!message) continue;
        if (const auto* refusal = message->as<stencil::Refusal>()) return refusal->text;
      }
      // Payloads are empty here: all there is goes into the last of the two places.
      const std::span<std::byte> room = reader_.room().back();
      const ssize_t size = recv(connection_.descriptor(), room.data(), room.size(), 0);
      if (size <= 0) return "";
      reader_.filled(static_cast<std::size_t>(size));
    }
  }

 private:
  RawConnection connection_;
  stencil::BucketPool payloads_;
  stencil::FrameReader reader_{1 << 16, 0, payloads_};
};

class StrangersTest : public ::testing::Test {
 protected:
  static constexpr int kWorkers = 4;  // on a ring: 0 knows 1 and 3

  void start() {
    std::vector<std::string> arguments = {"train",
                                          "--model",
                                          "linear",
                                          "--data",
                                          "synthetic:512,128",
                                          "--topology",
                                          "ring:4",
                                          "--transport",
                                          "tcp",
                                          "--insecure",
                                          "--out",
                                          run_.path().string(),
                                          "--epochs",
                                          "100000",  // it is ended when all is shown
                                          "--warmup",
                                          "0",
                                          "--threads",
                                          "1",
                                          "--lr",
                                          "0.01",
                                          "--report-every",
                                          "0.2",
                                          "--settle-deadline",
                                          "10",
                                          "--quiet"};
    for (int rank = 0; rank < kWorkers; ++rank) {
      arguments.insert(arguments.end(), {"--slow", std::to_string(rank) + ":60"});
    }
    program_ = std::make_unique<Program>(FAST_PROGRAM, arguments);
    ASSERT_TRUE(program_->wait_until([&] { return run_.all_train(kWorkers); }, kPatience))
        << program_->err();
    pid_ = worker_pids(program_->pid())[0];
    port_ = run_.port(0);
    ASSERT_GT(port_, 0);
  }
  /// Ends the run in good order after it has continued for a while. Returns the counters in the end
  /// line of worker 0.
  std::map<std::string, std::uint64_t> finish() {
    EXPECT_TRUE(run_.all_go_on(*program_, {0, 1, 2, 3})) << program_->err();
    for (int rank = 0; rank < kWorkers; ++rank) EXPECT_TRUE(run_.trains(rank)) << rank;
    program_->signal(SIGTERM);
    const ProgramResult result = program_->wait(kPatience);
    EXPECT_EQ(result.code, 130) << result.out << result.err;
    for (int rank = 0; rank < kWorkers; ++rank) {
      const WorkerHistory history = run_.history(rank);
      EXPECT_TRUE(history.end && history.end->exit_code == 130) << rank;
    }
    const WorkerHistory history = run_.history(0);
    for (const auto& event : history.events) {
      EXPECT_NE(event.event, "suspect") << "a stranger came between neighbours: " << event.text;
    }
    return history.end ? history.end->counters : std::map<std::string, std::uint64_t>();
  }
  /// How many lines of the log of worker 0 hold `text`.
  [[nodiscard]] int lines_with(const std::string& text) const {
    const std::string log = run_.log(0);
    int count = 0;
    for (auto at = log.find(text); at != std::string::npos; at = log.find(text, at + 1)) ++count;
    return count;
  }
  [[nodiscard]] stencil::Message hello(stencil::Rank from) const {
    return hello(from, run_.run_id(), stencil::kProtocolVersion);
  }
  [[nodiscard]] static stencil::Message hello(stencil::Rank from, const std::string& run_id,
                                              std::uint32_t protocol) {
    stencil::Message message;
    message.header.from = from;
    message.header.sender_epoch = 77;
    message.body = stencil::Hello{.protocol = protocol,
                                  .run_id = run_id,
                                  .topology = "ring:4",
                                  .generation = 1,
                                  .mode = "async"};
    return message;
  }

  TemporaryFolder folder_;
  RunWatch run_{folder_.path() / "run"};
  std::unique_ptr<Program> program_;
  pid_t pid_ = 0;
  int port_ = 0;
};

TEST_F(StrangersTest, GarbageHalfHandshakesAndOversizedClaimsAreCountedAndHarmNobody) {
  start();
  const std::uint64_t before = resident_kib(pid_);
  std::string noise(100000, '\0');
  for (std::size_t i = 0; i < noise.size(); ++i) noise[i] = static_cast<char>(i * 2654435761U >> 7);
  constexpr int kRounds = 20;
  std::uint64_t shouts = 0;
  for (int round = 0; round < kRounds; ++round) {
    for (const std::string& bytes :
         {noise, std::string("GET / HTTP/1.1\r\n\r\n"), std::string(), greeting().substr(0, 7),
          greeting(), greeting() + lengths(8, 100).substr(0, 5),
          greeting() + lengths(8, 100) + "half a frame", greeting() + noise,
          greeting() + lengths(8, 0xFFFFFFFF) + std::string(1000, 'x')}) {
      RawConnection(port_).write(bytes);
      ++shouts;
    }
  }
  const std::uint64_t after = resident_kib(pid_);
  ASSERT_GT(before, 0U);
  ASSERT_GT(after, 0U) << "the run had ended before the strangers were gone";
  EXPECT_LT(after, before + (64U << 10)) << "KiB of memory";
  const auto counters = finish();
  EXPECT_EQ(counters.at("strangers"), shouts);
  EXPECT_EQ(counters.at("malformed"), 0U);
}

TEST_F(StrangersTest, FramesThatAreNoMessagesAreCountedAndSaidOnce) {
  start();
  const std::uint64_t before = resident_kib(pid_);
  constexpr int kFrames = 500;
  Stranger stranger(port_);
  for (int i = 0; i < kFrames; ++i) {
    stranger.say("no header " + std::to_string(i), std::string(1000, 'x'));
  }
  // A worker that is not a neighbour gets a refusal, which shows that all before has been read too.
  stranger.say(hello(2));
  EXPECT_THAT(stranger.refusal(), HasSubstr("rank 2 is no neighbour; check the rank"));
  const std::uint64_t after = resident_kib(pid_);
  ASSERT_GT(after, 0U) << "the run had ended before the stranger was heard";
  EXPECT_LT(after, before + (64U << 10)) << "KiB of memory";
  const auto counters = finish();
  EXPECT_EQ(counters.at("malformed") + counters.at("checksum"),
            static_cast<std::uint64_t>(kFrames));
  EXPECT_EQ(counters.at("unknown_senders"), 1U);
  EXPECT_EQ(lines_with("a stranger: "), 2) << run_.log(0);
  EXPECT_EQ(lines_with("rank 2 is no neighbour of ours"), 1) << run_.log(0);
}

TEST_F(StrangersTest, AHelloOfAnotherRunProtocolOrRankIsRefusedByNamingWhatDiffers) {
  start();
  const auto refusal = [this](const stencil::Message& message) {
    Stranger stranger(port_);
    stranger.say(message);
    return stranger.refusal();
  };
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(
        refusal(hello(1, "another run", stencil::kProtocolVersion)),
        ::testing::AllOf(HasSubstr("another run"), ::testing::Not(HasSubstr(run_.run_id()))));
    EXPECT_THAT(refusal(hello(1, run_.run_id(), stencil::kProtocolVersion + 98)),
                ::testing::AllOf(HasSubstr(std::to_string(stencil::kProtocolVersion + 98)),
                                 HasSubstr(std::to_string(stencil::kProtocolVersion))));
    EXPECT_THAT(refusal(hello(2)), HasSubstr("no neighbour"));
    Stranger wrong(port_);
    wrong.say(hello(-5));
    wrong.say(hello(2));
    EXPECT_THAT(wrong.refusal(), HasSubstr("no neighbour")) << "to the second alone";
    EXPECT_THAT(refusal(hello(1000)), HasSubstr("no neighbour"));
  }
  // A stranger that claims to be a neighbour but has sent no Hello is ignored.
  Stranger stranger(port_);
  stencil::Message offer = hello(1);
  offer.body = stencil::Offer{.sequence = 1,
                              .payload = stencil::Payload(stencil::Bytes(4000, std::byte{0x7f}))};
  for (int i = 0; i < 100; ++i) stranger.say(offer);
  stranger.say(hello(2));
  EXPECT_THAT(stranger.refusal(), HasSubstr("no neighbour"));
  EXPECT_GT(resident_kib(pid_), 0U) << "the run had ended before the strangers were heard";
  const auto counters = finish();
  EXPECT_GE(counters.at("unknown_senders"), 10U);
  EXPECT_EQ(counters.at("malformed"), 3U);
  EXPECT_EQ(counters.at("non_finite"), 0U) << "the stranger's offers were looked into";
  EXPECT_EQ(lines_with("rank 1000 is no neighbour of ours"), 1) << run_.log(0);
}

}  // namespace
}  // namespace fast::testing
