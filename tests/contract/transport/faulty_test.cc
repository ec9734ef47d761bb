#include <algorithm>
#include <bit>

#include "stencil/transport/faulty/faulty_transport.h"
#include "stencil/transport/inproc/inproc_transport.h"
#include "tests/contract/transport/transport_contract.h"

namespace stencil::contract {
namespace {

class FaultyWorld final : public TransportWorld {
 public:
  std::string free_endpoint() override { return "inproc://later"; }
  std::string any_endpoint() override { return "inproc://"; }
  std::unique_ptr<Transport> make(const TransportOptions& options) override {
    return make_with(options, {});
  }
  std::unique_ptr<FaultyTransport> make_with(TransportOptions options,
                                             const FaultyOptions& faults) {
    options.inproc = network_;
    return std::make_unique<FaultyTransport>(make_transport(options), faults);
  }

 private:
  std::shared_ptr<InprocNetwork> network_ = std::make_shared<InprocNetwork>();
};

INSTANTIATE_TEST_SUITE_P(Faultless, TransportContract,
                         ::testing::Values(TransportKind{
                             "faultless", [] { return std::make_unique<FaultyWorld>(); }}));

INSTANTIATE_TEST_SUITE_P(Faultless, KeyedTransportContract,
                         ::testing::Values(TransportKind{
                             "faultless", [] { return std::make_unique<FaultyWorld>(); }}));

/// A client and a server with faults of their own, connected.
class Faulty : public TransportTest {
 protected:
  void connect(const FaultyOptions& at_client, const FaultyOptions& at_server) {
    TransportOptions options{.loop = &loop_};
    options.queue_frames = 10000;
    options.listen = "inproc://server";
    server_ = world_.make_with(options, at_server);
    options.listen.clear();
    client_ = world_.make_with(options, at_client);
    link_ = client_->dial("inproc://server");
    expect_event(*client_, LinkEvent::kUp);
  }
  void send(std::uint64_t count, std::size_t bytes = 10) {
    for (std::uint64_t i = 0; i < count; ++i)
      EXPECT_EQ(client_->send(link_, numbered_frame(i, bytes)), SendStatus::kSent);
  }
  std::vector<std::uint64_t> read() {
    std::vector<std::uint64_t> numbers;
    while (const auto received = server_->receive()) {
      if (received->event == LinkEvent::kFrame) numbers.push_back(number_of(received->frame));
    }
    return numbers;
  }

  FaultyWorld world_;
  std::unique_ptr<FaultyTransport> server_, client_;
  LinkId link_ = 0;
};

TEST_F(Faulty, DroppedAndDoubledFramesAreCountedAndTheRestStaysInOrder) {
  connect({.seed = 3, .send = {.drop = 0.1, .duplicate = 0.1}, .receive = {}},
          {.seed = 4, .send = {}, .receive = {.drop = 0.1, .duplicate = 0.1}});
  send(1000);
  const auto numbers = read();
  EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
  const FaultCounts out = client_->counts(), in = server_->counts();
  EXPECT_GT(out.dropped, 0U);
  EXPECT_GT(in.duplicated, 0U);
  EXPECT_EQ(numbers.size(), 1000 - out.dropped + out.duplicated - in.dropped + in.duplicated);
  EXPECT_EQ(client_->stats().discarded, out.dropped);
}

TEST_F(Faulty, TheSameSeedGivesTheSameFaults) {
  std::vector<std::vector<std::uint64_t>> runs;
  for (const std::uint64_t seed : {5, 5, 6}) {
    connect({.seed = seed, .send = {.drop = 0.2}, .receive = {}},
            {.seed = seed, .send = {}, .receive = {.drop = 0.2, .duplicate = 0.2}});
    send(500);
    runs.push_back(read());
    client_.reset();
    server_.reset();
  }
  EXPECT_EQ(runs[0], runs[1]);
  EXPECT_NE(runs[0], runs[2]);
}

TEST_F(Faulty, ACorruptedPayloadDiffersInOneBitAndTheSendersCopyNotAtAll) {
  connect({.send = {.corrupt = 1}, .receive = {}}, {});
  Frame frame = numbered_frame(1, 1000);
  const Payload kept = frame.payload;
  ASSERT_EQ(client_->send(link_, std::move(frame)), SendStatus::kSent);
  const Received received = expect_frame(*server_);
  int bits = 0;
  for (std::size_t i = 0; i < view(kept).size(); ++i)
    bits +=
        std::popcount(std::to_integer<unsigned>(view(kept)[i] ^ view(received.frame.payload)[i]));
  EXPECT_EQ(bits, 1);
  expect_numbered({received.frame.header, kept}, 1, 1000);
}

TEST_F(Faulty, DelayedFramesComeLaterInOrderUnlessToldOtherwise) {
  for (const bool keep_order : {true, false}) {
    connect({},
            {.send = {}, .receive = {}, .delay = 0.5, .delay_calls = 50, .keep_order = keep_order});
    send(200);
    std::vector<std::uint64_t> numbers;
    for (int call = 0; call < 1000; ++call) {
      const auto received = server_->receive();
      if (received && received->event == LinkEvent::kFrame)
        numbers.push_back(number_of(received->frame));
    }
    EXPECT_EQ(numbers.size(), 200U);
    EXPECT_EQ(std::is_sorted(numbers.begin(), numbers.end()), keep_order);
    EXPECT_GT(server_->counts().delayed, 50U);
    client_.reset();
    server_.reset();
  }
}

TEST_F(Faulty, VirtualTimeReleasesWhatWasDelayedByIt) {
  connect({}, {.send = {}, .receive = {}, .delay = 1, .delay_time = std::chrono::seconds(10)});
  const TimePoint start{};
  server_->advance(start);
  send(50);
  const std::size_t at_once = read().size();
  EXPECT_LT(at_once, 50U);
  const TimePoint next = server_->next_change();
  EXPECT_GT(next, start);
  EXPECT_LE(next, start + std::chrono::seconds(10));
  server_->advance(start + std::chrono::seconds(10));
  EXPECT_EQ(at_once + read().size(), 50U);
  EXPECT_EQ(server_->next_change(), kNever);
}

TEST_F(Faulty, ACutLinkGoesDownAndComesUpAgainAtItsTime) {
  connect({}, {});
  client_->advance(TimePoint{});
  client_->cut(link_, TimePoint{} + std::chrono::seconds(1));
  EXPECT_EQ(expect_event(*client_, LinkEvent::kDown).link, link_);
  EXPECT_EQ(client_->send(link_, numbered_frame(1, 1)), SendStatus::kDown);
  EXPECT_EQ(client_->next_change(), TimePoint{} + std::chrono::seconds(1));
  client_->advance(TimePoint{} + std::chrono::seconds(1));
  EXPECT_EQ(expect_event(*client_, LinkEvent::kUp).link, link_);
  EXPECT_EQ(client_->send(link_, numbered_frame(2, 1)), SendStatus::kSent);
  EXPECT_EQ(read(), std::vector<std::uint64_t>{2});
  EXPECT_EQ(client_->counts().cuts, 1U);
}

TEST_F(Faulty, AnInboundLinkThatWasCutComesBackAsANewOne) {
  connect({}, {});
  send(1);
  const LinkId inbound = expect_frame(*server_).link;
  server_->cut(inbound);
  EXPECT_EQ(expect_event(*server_, LinkEvent::kDown).link, inbound);
  send(3);
  EXPECT_TRUE(read().empty());
  EXPECT_EQ(server_->counts().dropped, 3U);
  server_->heal(inbound);
  send(1);
  EXPECT_NE(expect_frame(*server_).link, inbound);
}

}  // namespace
}  // namespace stencil::contract
