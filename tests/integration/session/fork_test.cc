// A process forked from a worker's does not disturb it.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include "tests/integration/session/session_fixture.h"

namespace fast {
namespace {

std::set<int> open_descriptors() {
  std::set<int> out;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    out.insert(std::stoi(entry.path().filename().string()));
  }
  return out;
}

/// Two workers of this process on real sockets; `work` gets both when they have exchanged.
template <typename Work>
void with_two(Work work) {
  Quadratic models[2] = {Quadratic(0), Quadratic(1)};
  SessionOptions options{.topology = "ring:2", .rank = 0, .listen = "tcp://127.0.0.1:0"};
  options.exchange.settle_deadline = 60;
  auto zero = std::make_unique<Session>(models[0].adapter, options);
  options.rank = 1;
  options.peers = {{0, zero->endpoint()}};
  Session one(models[1].adapter, options);
  zero->join();
  one.join();
  const auto step = [&] {
    models[0].step();
    zero->exchange({.samples = 1, .loss = 1});
    models[1].step();
    one.exchange({.samples = 1, .loss = 1});
  };
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (zero->status().counter("sweeps") == 0 && std::chrono::steady_clock::now() < until) step();
  work(zero, one, step);
}

TEST(ForkTest, EveryDescriptorOfASessionIsClosedOnExec) {
  const std::set<int> before = open_descriptors();
  with_two([&](auto&, Session&, auto) {
    int seen = 0;
    for (const int descriptor : open_descriptors()) {
      const int flags = fcntl(descriptor, F_GETFD);
      if (before.contains(descriptor) || flags < 0) continue;  // or of the listing itself
      ++seen;
      EXPECT_NE(flags & FD_CLOEXEC, 0)
          << descriptor << " is "
          << std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor));
    }
    EXPECT_GT(seen, 4);
  });
}

TEST(ForkTest, TheDestructorInAForkedChildTakesLeaveForNobody) {
  with_two([](std::unique_ptr<Session>& zero, Session& one, auto step) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(60);  // a child that hangs ends the test
      zero.reset();
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    const auto sweeps = one.status().counter("sweeps");
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (one.status().counter("sweeps") == sweeps && std::chrono::steady_clock::now() < until) {
      step();
    }
    EXPECT_GT(one.status().counter("sweeps"), sweeps) << "the parent's session goes on";
    EXPECT_EQ(one.status().neighbours.at(0).link, LinkState::kUp);
  });
}

}  // namespace
}  // namespace fast
