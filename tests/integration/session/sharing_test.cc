// A worker that gets no memory to share, or no socket for meeting, logs it once and exchanges by
// messages, with private memory.
#include "fast/session/sharing.h"

#include <gmock/gmock.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <functional>
#include <iterator>
#include <mutex>
#include <thread>

#include "adapters/flat/flat_adapter.h"
#include "fast/session/session.h"
#include "stencil/transport/inproc/inproc_network.h"

namespace fast {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// From now on the system refuses this call to the calling thread and to threads that it starts.
void forbid(long call) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{.len = std::size(program), .filter = program};
  ASSERT_EQ(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
}

/// What a worker logged about missing shared memory, and how many buckets it averaged there.
struct Outcome {
  std::vector<std::string> said;
  std::uint64_t shares = 0;
};

/// Two workers come from 10 and 20 to 15; `before` is done in the thread of the first. Workers meet
/// in shared memory as soon as it is mapped, and exchange by messages until then. With `to_share`
/// they exchange until one bucket was averaged there or the test's deadline ends.
std::vector<Outcome> run_two(bool to_share, const std::function<void()>& before) {
  const auto network = std::make_shared<stencil::InprocNetwork>();
  std::vector<Outcome> outcomes(2);
  std::atomic<bool> shared = false;
  const auto work = [&](int rank) {
    Outcome& outcome = outcomes[static_cast<std::size_t>(rank)];
    if (rank == 0) before();
    std::vector<float> x(100);
    FlatAdapter adapter(x);
    std::mutex mutex;
    SessionOptions options;
    options.topology = "ring:2";
    options.rank = rank;
    options.listen = "inproc://worker-" + std::to_string(rank);
    options.peer_template = "inproc://worker-{rank}";
    options.inproc = network;
    options.exchange.start_deadline = 30;  // not to be reached
    options.exchange.settle_target = 1e-6;
    options.exchange.settle_deadline = 60;
    options.log = [&](stencil::LogLevel, std::string_view text) {
      const std::lock_guard lock(mutex);
      if (text.find("no shared memory") != std::string::npos) outcome.said.emplace_back(text);
    };
    Session session(adapter, options);
    session.join();
    // The other may have begun before, and have moved this model.
    for (float& value : x) value += 10.0F * static_cast<float>(rank + 1);
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    do {
      session.exchange({});
      if (session.status().counter("shares") > 0) shared = true;
    } while (to_share && !shared && std::chrono::steady_clock::now() < patience);
    EXPECT_EQ(session.finish(), Agreement::kAgreed) << rank;
    for (const float value : x) EXPECT_NEAR(value, 15, 1e-2) << rank;
    outcome.shares = session.status().counter("shares");
  };
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&work, rank] {
      try {
        work(rank);
      } catch (const std::exception& error) {
        ADD_FAILURE() << "worker " << rank << ": " << error.what();
      }
    });
  }
  threads.clear();
  return outcomes;
}

TEST(Sharing, is_what_two_do_that_lack_nothing) {
  const auto outcomes = run_two(true, [] {});
  EXPECT_GT(outcomes[0].shares + outcomes[1].shares, 0U);
  EXPECT_THAT(outcomes[0].said, IsEmpty());
}

TEST(Sharing, without_memory_for_it_is_given_up_with_one_line) {
  const auto outcomes = run_two(false, [] { forbid(SYS_memfd_create); });
  EXPECT_EQ(outcomes[0].shares + outcomes[1].shares, 0U);
  EXPECT_THAT(outcomes[0].said, ElementsAre(HasSubstr("cannot make the memory of the exchange")));
}

TEST(Sharing, without_a_socket_to_meet_at_is_given_up_with_one_line) {
  const auto outcomes = run_two(false, [] { forbid(SYS_socket); });
  EXPECT_EQ(outcomes[0].shares + outcomes[1].shares, 0U);
  EXPECT_THAT(outcomes[0].said, ElementsAre(HasSubstr("cannot listen on a Unix socket")));
}

}  // namespace
}  // namespace fast
