#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zmq.h>

#include <algorithm>

#include "stencil/wire/wire.h"
#include "tests/support/cifar_files.h"
#include "tests/support/faults.h"

namespace fast::testing {
namespace {

using ::testing::HasSubstr;

/// Connects, says `bytes`, hangs up.
void shout(int port, const std::string& bytes) {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  ASSERT_EQ(connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  // The other side may hang up in the middle.
  (void)!send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  close(descriptor);
}

/// ZMTP 3.0: the greeting with the NULL mechanism, the READY command of a DEALER, and the head of
/// a frame.
std::string greeting() {
  return std::string("\xff", 1) + std::string(8, '\0') + "\x7f" + "\x03" + std::string(1, '\0') +
         "NULL" + std::string(16, '\0') + std::string(32, '\0');
}
std::string ready() {
  const std::string body = std::string("\x05") + "READY" + "\x0b" + "Socket-Type" +
                           std::string("\0\0\0\x06", 4) + "DEALER" + "\x08" + "Identity" +
                           std::string(4, '\0');
  return std::string("\x04") + static_cast<char>(body.size()) + body;
}
std::string long_frame(std::uint64_t size) {
  std::string bytes = "\x02";
  for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(size >> shift & 0xFF);
  return bytes;
}

/// A stranger that speaks ZeroMQ.
class Dealer {
 public:
  explicit Dealer(int port) : context_(zmq_ctx_new()), socket_(zmq_socket(context_, ZMQ_DEALER)) {
    const int none = 0;
    zmq_setsockopt(socket_, ZMQ_LINGER, &none, sizeof none);
    EXPECT_EQ(zmq_connect(socket_, ("tcp://127.0.0.1:" + std::to_string(port)).c_str()), 0);
  }
  ~Dealer() {
    zmq_close(socket_);
    zmq_ctx_term(context_);
  }
  Dealer(const Dealer&) = delete;
  Dealer& operator=(const Dealer&) = delete;

  void say(const std::string& first, const std::string& second) {
    const int patience = 10000;
    zmq_setsockopt(socket_, ZMQ_SNDTIMEO, &patience, sizeof patience);
    EXPECT_GE(zmq_send(socket_, first.data(), first.size(), ZMQ_SNDMORE), 0);
    EXPECT_GE(zmq_send(socket_, second.data(), second.size(), 0), 0);
  }
  void say(const stencil::Message& message) {
    const stencil::Frame frame = stencil::encode_frame(message);
    const auto text = [](std::span<const std::byte> bytes) {
      return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    };
    say(text({frame.header.data(), frame.header.size()}), text(stencil::view(frame.payload)));
  }

  /// What is said in answer to a Hello: the text of a refusal, "" where none comes.
  std::string refusal() {
    const int patience = 10000;
    zmq_setsockopt(socket_, ZMQ_RCVTIMEO, &patience, sizeof patience);
    for (;;) {
      stencil::Frame frame;
      std::vector<char> buffer(1 << 20);
      const int size = zmq_recv(socket_, buffer.data(), buffer.size(), 0);
      if (size < 0) return "";
      const auto* const bytes = reinterpret_cast<const std::byte*>(buffer.data());
      frame.header.assign(bytes, bytes + size);
      int more = 0;
      std::size_t length = sizeof more;
      for (zmq_getsockopt(socket_, ZMQ_RCVMORE, &more, &length); more != 0;
           zmq_getsockopt(socket_, ZMQ_RCVMORE, &more, &length)) {
        (void)zmq_recv(socket_, buffer.data(), buffer.size(), 0);
      }
      const auto message = stencil::decode_frame(frame);
      if (message.ok() && const_cast<stencil::Result<stencil::Message>&>(message)->kind ==
                              stencil::MessageKind::kRefusal) {
        return const_cast<stencil::Result<stencil::Message>&>(message)->text;
      }
    }
  }

 private:
  void* context_;
  void* socket_;
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
  /// Ends the run, in good order, once it has gone on after all this: the counters in the end line
  /// of the worker that was bothered.
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
      EXPECT_NE(event.name, "suspect") << "a stranger came between neighbours: " << event.text;
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
    stencil::Message message;
    message.kind = stencil::MessageKind::kHello;
    message.from = from;
    message.sender_epoch = 77;
    message.hello = {
        .run_id = run_.run_id(), .topology = "ring:4", .incarnation = 1, .mode = "async"};
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
         {noise, std::string("GET / HTTP/1.1\r\n\r\n"), std::string(), greeting().substr(0, 11),
          greeting(), greeting() + ready().substr(0, 9),
          greeting() + ready() + long_frame(100) + "half a frame",
          greeting() + ready() + long_frame(6ULL << 30) + std::string(1000, 'x')}) {
      shout(port_, bytes);
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
  Dealer dealer(port_);
  for (int i = 0; i < kFrames; ++i) {
    dealer.say("no header " + std::to_string(i), std::string(1000, 'x'));
  }
  // Whoever is no neighbour is told so; then all before has been read, too.
  dealer.say(hello(2));
  EXPECT_THAT(dealer.refusal(), HasSubstr("rank 2 is no neighbour of rank 0"));
  const std::uint64_t after = resident_kib(pid_);
  ASSERT_GT(after, 0U) << "the run had ended before the stranger was heard";
  EXPECT_LT(after, before + (64U << 10)) << "KiB of memory";
  const auto counters = finish();
  EXPECT_EQ(counters.at("malformed") + counters.at("checksum"),
            static_cast<std::uint64_t>(kFrames));
  EXPECT_EQ(counters.at("unknown_senders"), 1U);
  EXPECT_EQ(lines_with("a stranger: "), 1) << run_.log(0);
  EXPECT_EQ(lines_with("rank 2 is no neighbour of ours"), 1) << run_.log(0);
}

TEST_F(StrangersTest, AHelloOfAnotherRunProtocolOrRankIsRefusedByNamingBothValues) {
  start();
  const auto refusal = [this](const stencil::Message& message) {
    Dealer dealer(port_);
    dealer.say(message);
    return dealer.refusal();
  };
  for (int i = 0; i < 3; ++i) {
    stencil::Message other = hello(1);
    other.hello.run_id = "another run";
    EXPECT_THAT(refusal(other),
                ::testing::AllOf(HasSubstr("another run"), HasSubstr(run_.run_id())));
    other = hello(1);
    other.hello.protocol = stencil::kProtocolVersion + 98;
    EXPECT_THAT(refusal(other),
                ::testing::AllOf(HasSubstr(std::to_string(stencil::kProtocolVersion + 98)),
                                 HasSubstr(std::to_string(stencil::kProtocolVersion))));
    EXPECT_THAT(refusal(hello(2)), HasSubstr("no neighbour"));
    Dealer wrong(port_);
    wrong.say(hello(-5));
    wrong.say(hello(2));
    EXPECT_THAT(wrong.refusal(), HasSubstr("no neighbour")) << "to the second alone";
    EXPECT_THAT(refusal(hello(1000)), HasSubstr("no neighbour"));
  }
  // One that claims to be a neighbour, but never said Hello, is not listened to.
  Dealer dealer(port_);
  stencil::Message offer = hello(1);
  offer.kind = stencil::MessageKind::kOffer;
  offer.hello = {};
  offer.sequence = 1;
  offer.payload = stencil::Payload(stencil::Bytes(4000, std::byte{0x7f}));
  for (int i = 0; i < 100; ++i) dealer.say(offer);
  dealer.say(hello(2));
  EXPECT_THAT(dealer.refusal(), HasSubstr("no neighbour"));
  EXPECT_GT(resident_kib(pid_), 0U) << "the run had ended before the strangers were heard";
  const auto counters = finish();
  EXPECT_GE(counters.at("unknown_senders"), 10U);
  EXPECT_EQ(counters.at("malformed"), 3U);
  EXPECT_EQ(counters.at("non_finite"), 0U) << "the stranger's offers were looked into";
  EXPECT_EQ(lines_with("rank 1000 is no neighbour of ours"), 1) << run_.log(0);
}

}  // namespace
}  // namespace fast::testing
