// A grid whose links are proven, and strangers that connect to it.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <iterator>
#include <thread>

#include "fast/options/key_files.h"
#include "stencil/io/event_loop.h"
#include "stencil/transport/factory.h"
#include "tests/support/cifar_files.h"
#include "tests/support/faults.h"
#include "tests/support/key_rings.h"
#include "tests/support/stream_bytes.h"

namespace fast::testing {
namespace {

using ::testing::HasSubstr;

std::size_t descriptors_of(pid_t pid) {
  std::error_code gone;
  const std::filesystem::directory_iterator all("/proc/" + std::to_string(pid) + "/fd", gone);
  return gone ? 0 : static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// The transport is the parameter.
class KeyedStrangersTest : public ::testing::TestWithParam<std::string> {
 protected:
  static constexpr int kWorkers = 4;

  void start() {
    const std::string keys = (folder_.path() / "keys").string();
    const ProgramResult made =
        run_program(FAST_PROGRAM, {"keys", "--out", keys, "--workers", std::to_string(kWorkers)},
                    {}, kPatience);
    ASSERT_EQ(made.code, 0) << made.err;
    program_ =
        std::make_unique<Program>(FAST_PROGRAM, std::vector<std::string>{"train",
                                                                         "--model",
                                                                         "linear",
                                                                         "--data",
                                                                         "synthetic:512,128",
                                                                         "--topology",
                                                                         "ring:4",
                                                                         "--keys",
                                                                         keys,
                                                                         "--transport",
                                                                         GetParam(),
                                                                         "--share-memory",
                                                                         "never",
                                                                         "--out",
                                                                         run_.path().string(),
                                                                         "--epochs",
                                                                         "100000",
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
                                                                         "--quiet",
                                                                         "--slow",
                                                                         "0:60",
                                                                         "--slow",
                                                                         "1:60",
                                                                         "--slow",
                                                                         "2:60",
                                                                         "--slow",
                                                                         "3:60"});
    ASSERT_TRUE(program_->wait_until([&] { return run_.all_train(kWorkers); }, kPatience))
        << program_->err();
    pid_ = worker_pids(program_->pid())[0];
    port_ = run_.port(0);
    ASSERT_GT(port_, 0);
    open_ = public_key_of(keys, 0);
  }

  /// As public.keys says.
  static stencil::PublicKey public_key_of(const std::string& keys, int rank) {
    return read_keys(KeyFiles::in_folder(keys, rank), rank, {})->own_public;
  }

  /// Dials worker 0 with these options until it has counted one stranger more.
  void dial(stencil::TransportOptions options, std::optional<stencil::PublicKey> key) {
    stencil::EventLoop loop;
    options.loop = &loop;
    const auto transport = stencil::make_transport(options);
    const stencil::LinkId link =
        transport->dial({GetParam() + "://127.0.0.1:" + std::to_string(port_), key});
    // A plain socket takes itself for connected until it is hung up on.
    const bool bare = !key && GetParam() == "tcp";
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
    while (std::chrono::steady_clock::now() < until) {
      if (const auto event = transport->receive()) {
        EXPECT_NE(event->event, stencil::LinkEvent::kFrame) << "a stranger is spoken to";
        EXPECT_TRUE(bare || event->event != stencil::LinkEvent::kUp) << "a stranger is connected";
      } else {
        std::this_thread::yield();
      }
    }
    EXPECT_TRUE(bare || transport->send(link, {}) == stencil::SendStatus::kDown);
  }

  TemporaryFolder folder_;
  RunWatch run_{folder_.path() / "run"};
  std::unique_ptr<Program> program_;
  pid_t pid_ = 0;
  int port_ = 0;
  stencil::PublicKey open_;
};

TEST_P(KeyedStrangersTest, NobodyWithoutAKeyOfTheRunComesInAndTheRunGoesOn) {
  start();
  const std::uint64_t memory = resident_kib(pid_);
  const std::size_t descriptors = descriptors_of(pid_);
  const auto ring_of = [](std::uint8_t pair) {
    return stencil::test::Keys(stencil::test::ring(pair, {{pair}})).source();
  };
  for (int round = 0; round < 3; ++round) {
    dial({}, std::nullopt);                                        // no key
    dial({.keys = ring_of(99)}, open_);                            // a stranger's key
    dial({.keys = ring_of(99)}, stencil::test::KeyPair(98).open);  // dials another's key
    RawConnection(port_).write("GET / HTTP/1.1\r\n\r\n");
    RawConnection(port_).write(std::string(10, '\xff'));  // half a greeting
  }
  for (int i = 0; i < 4000; ++i) RawConnection left(port_);
  EXPECT_TRUE(run_.all_go_on(*program_, {0, 1, 2, 3})) << program_->err();
  EXPECT_TRUE(eventually([&] { return descriptors_of(pid_) <= descriptors + 8; }))
      << descriptors_of(pid_) << " descriptors, " << descriptors << " before";
  EXPECT_LT(resident_kib(pid_), memory + (26U << 10)) << "KiB of memory";
  program_->signal(SIGTERM);
  const ProgramResult result = program_->wait(kPatience);
  EXPECT_EQ(result.code, 130) << result.out << result.err;
  const WorkerHistory history = run_.history(0);
  ASSERT_TRUE(history.end);
  EXPECT_GE(history.end->counters.at("strangers"), 4000U);
  EXPECT_EQ(history.end->counters.at("unproven"), 0U);
  for (const auto& event : history.events) {
    EXPECT_NE(event.event, "suspect") << "a stranger came between neighbours: " << event.text;
  }
  for (const char* const said : {"without a key", "was refused; if it is a worker of this run",
                                 "dialled another key than ours"}) {
    EXPECT_THAT(run_.log(0), HasSubstr(said));
  }
}

INSTANTIATE_TEST_SUITE_P(Transports, KeyedStrangersTest, ::testing::Values("zmq", "tcp"),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace fast::testing
