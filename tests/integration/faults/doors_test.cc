// A grid over ZeroMQ, with keys and without, and crowds of strangers that stay.
#include <gmock/gmock.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <ios>
#include <iterator>
#include <thread>

#include "stencil/transport/descriptors.h"
#include "tests/support/cifar_files.h"
#include "tests/support/faults.h"
#include "tests/support/stream_bytes.h"
#include "tests/support/zmtp_bytes.h"

namespace fast::testing {
namespace {

using ::testing::HasSubstr;

std::size_t open_files_of(pid_t pid) {
  std::error_code gone;
  const std::filesystem::directory_iterator all("/proc/" + std::to_string(pid) + "/fd", gone);
  return gone ? 0 : static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// The most that a process has had, since this began to look.
class Peaks {
 public:
  explicit Peaks(pid_t pid) : thread_([this, pid] { look(pid); }) {}
  ~Peaks() {
    over_ = true;
    thread_.join();
  }
  [[nodiscard]] std::uint64_t kib() const { return kib_; }
  [[nodiscard]] std::size_t files() const { return files_; }

 private:
  void look(pid_t pid) {
    try {
      while (!over_) {
        kib_ = std::max<std::uint64_t>(kib_, resident_kib(pid));
        files_ = std::max<std::size_t>(files_, open_files_of(pid));
        std::this_thread::yield();
      }
    } catch (const std::ios_base::failure&) {
      // It has ended while its file was read.
    }
  }
  std::atomic<bool> over_{false};
  std::atomic<std::uint64_t> kib_{0};
  std::atomic<std::size_t> files_{0};
  std::thread thread_;
};

/// Connections that are begun and held, each with a few bytes once it is made.
class Crowd {
 public:
  Crowd(int port, std::size_t size, std::string bytes) : port_(port), bytes_(std::move(bytes)) {
    while (held_.size() < size) {
      held_.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      address.sin_port = htons(static_cast<std::uint16_t>(port_));
      (void)::connect(held_.back().get(), reinterpret_cast<const sockaddr*>(&address),
                      sizeof address);
      if (held_.size() % 50 == 0) greet();
    }
  }
  void greet() {
    greeted_.resize(held_.size());
    for (std::size_t i = 0; i < held_.size(); ++i) {
      pollfd up{held_[i].get(), POLLOUT, 0};
      if (greeted_[i] || ::poll(&up, 1, 0) != 1) continue;
      greeted_[i] = true;
      (void)!::send(held_[i].get(), bytes_.data(), bytes_.size(), MSG_NOSIGNAL);
    }
  }

 private:
  int port_;
  std::string bytes_;
  std::vector<stencil::Descriptor> held_;
  std::vector<bool> greeted_;
};

class DoorsTest : public ::testing::TestWithParam<bool> {
 protected:
  static constexpr int kWorkers = 4;

  void start() {
    rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
    std::vector<std::string> arguments = {"train",
                                          "--model",
                                          "linear",
                                          "--data",
                                          "synthetic:512,128",
                                          "--topology",
                                          "ring:4",
                                          "--share-memory",
                                          "never",
                                          "--transport",
                                          "zmq",
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
                                          "--suspect-after",
                                          "20",
                                          "--quiet"};
    for (int rank = 0; rank < kWorkers; ++rank) {
      arguments.insert(arguments.end(), {"--slow", std::to_string(rank) + ":60"});
    }
    if (GetParam()) {
      const std::string keys = (folder_.path() / "keys").string();
      const ProgramResult made =
          run_program(FAST_PROGRAM, {"keys", "--out", keys, "--workers", std::to_string(kWorkers)},
                      {}, kPatience);
      ASSERT_EQ(made.code, 0) << made.err;
      arguments.insert(arguments.end(), {"--keys", keys});
    } else {
      arguments.emplace_back("--insecure");
    }
    program_ = std::make_unique<Program>(FAST_PROGRAM, arguments);
    ASSERT_TRUE(program_->wait_until([&] { return run_.all_train(kWorkers); }, kPatience))
        << program_->err();
    pid_ = worker_pids(program_->pid())[0];
    port_ = run_.port(0);
    ASSERT_GT(port_, 0);
  }

  /// One message whose parts have no end, again and again; with keys it does not get that far.
  void send_without_end() {
    std::string parts;
    for (int part = 0; part < 32'768; ++part) parts += zmtp_part("", true);
    while (!over_) {
      const RawConnection stranger(port_);
      const timeval patience{1, 0};
      for (const int which : {SO_RCVTIMEO, SO_SNDTIMEO}) {
        ::setsockopt(stranger.descriptor(), SOL_SOCKET, which, &patience, sizeof patience);
      }
      char answer[64];
      stranger.write(zmtp_greeting(GetParam() ? "CURVE" : "NULL"));
      if (::recv(stranger.descriptor(), answer, sizeof answer, MSG_WAITALL) <= 0) continue;
      if (!GetParam()) stranger.write(zmtp_ready());
      if (!GetParam() && ::recv(stranger.descriptor(), answer, sizeof answer, 0) <= 0) continue;
      while (!over_ &&
             ::send(stranger.descriptor(), parts.data(), parts.size(), MSG_NOSIGNAL) > 0) {
      }
      ++ended_;
    }
  }

  TemporaryFolder folder_;
  RunWatch run_{folder_.path() / "run"};
  std::unique_ptr<Program> program_;
  pid_t pid_ = 0;
  int port_ = 0;
  std::atomic<bool> over_{false};
  std::atomic<int> ended_{0};
};

INSTANTIATE_TEST_SUITE_P(Keys, DoorsTest, ::testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "WithKeys" : "WithoutKeys");
});

TEST_P(DoorsTest, CrowdsThatStayAndMessagesWithoutAnEndTakeLittleAndTheRunGoesOn) {
  constexpr std::size_t kSilent = 1'000, kMoreFiles = 300;
  start();
  const std::uint64_t memory = resident_kib(pid_);
  const std::size_t files = open_files_of(pid_);
  Peaks peaks(pid_);
  std::vector<std::thread> endless;
  for (int i = 0; i < 4; ++i) endless.emplace_back([this] { send_without_end(); });
  {
    Crowd polite(port_, kSilent, zmtp_greeting("NULL") + zmtp_ready());
    Crowd half(port_, kSilent, zmtp_greeting("CURVE").substr(0, 11));
    const auto said = [&] {
      over_ = peaks.kib() > memory + (512U << 10);  // shown, and no machine has all they ask for
      polite.greet();
      half.greet();
      const std::string log = run_.log(0);
      return log.find("as many have connected") != std::string::npos &&
             (GetParam() || log.find("than any of this run has") != std::string::npos);
    };
    EXPECT_TRUE(eventually([&] { return (said() && ended_ >= 8) || over_; })) << run_.log(0);
    EXPECT_TRUE(run_.all_go_on(*program_, {0, 1, 2, 3})) << program_->err();
  }
  over_ = true;
  for (std::thread& thread : endless) thread.join();
  EXPECT_LE(peaks.files(), files + kMoreFiles);
  EXPECT_LE(peaks.kib(), memory + (64U << 10)) << "KiB of memory";
  EXPECT_TRUE(eventually([&] { return open_files_of(pid_) <= files + 8; }))
      << open_files_of(pid_) << " open files, " << files << " before";
  program_->signal(SIGTERM);
  const ProgramResult result = program_->wait(kPatience);
  EXPECT_EQ(result.code, 130) << result.out << result.err;
  for (const auto& event : run_.history(0).events) {
    EXPECT_NE(event.event, "suspect") << "a stranger came between neighbours: " << event.text;
  }
  std::cout << "KiB " << memory << ", at most " << peaks.kib() << "; open files " << files
            << ", at most " << peaks.files() << "\n";
}

}  // namespace
}  // namespace fast::testing
