#include "bench/wire/pair.h"

#include <fmt/core.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>

#include "bench/support/cpu_time.h"

namespace bench {
namespace {

/// The measurements of one process in one run.
struct Account {
  double begin = 0, end = 0, cpu = 0;
  std::uint64_t faults = 0, switches = 0;
  Lateness lateness = {};
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Account used() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return {.cpu = cpu_seconds(),
          .faults = static_cast<std::uint64_t>(usage.ru_minflt),
          .switches = static_cast<std::uint64_t>(usage.ru_nvcsw + usage.ru_nivcsw)};
}

template <typename Value>
bool put(int socket, const Value& value) {
  return ::send(socket, &value, sizeof value, MSG_NOSIGNAL) == sizeof value;
}
template <typename Value>
bool get(int socket, Value& value) {
  return ::recv(socket, &value, sizeof value, MSG_WAITALL) == sizeof value;
}

std::array<int, 2> connected() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0)
    throw std::runtime_error("cannot make a socket pair");
  return ends;
}

using Address = std::array<char, 256>;

/// As in a worker that trains (adapters/torch/models/torch_learner.cc), for all programs alike. By
/// default glibc returns freed messages to the kernel, and a process that does nothing but receive
/// then spends its time on page faults.
void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 16 << 20);
#endif
}

/// The main loop of one process: a run for each number of passes that it receives.
void live(MakeParty make, const Traffic& traffic, bool first, int control, int other) {
  keep_freed_memory();
  const Meeting meeting{first,
                        [other](const std::string& address) {
                          Address text{};
                          address.copy(text.data(), text.size() - 1);
                          put(other, text);
                        },
                        [other] {
                          Address text{};
                          get(other, text);
                          return std::string(text.data());
                        }};
  const std::unique_ptr<Party> party = make(traffic, meeting);
  std::uint64_t passes = 0;
  while (get(control, passes)) {
    const Account before = used();
    const double begin = now();
    party->run(passes);
    const double end = now();
    const Account after = used();
    put(control, Account{begin, end, after.cpu - before.cpu, after.faults - before.faults,
                         after.switches - before.switches, party->lateness()});
  }
}

}  // namespace

Pair::Pair(MakeParty make, const Traffic& traffic) {
  const std::array<int, 2> between = connected();
  for (std::size_t i = 0; i < 2; ++i) {
    const std::array<int, 2> control = connected();
    const pid_t process = ::fork();
    if (process < 0) throw std::runtime_error("cannot start a process");
    if (process == 0) {
      ::close(control[0]);
      for (const Child& sibling : children_) ::close(sibling.control);
      try {
        live(make, traffic, i == 0, control[1], between[i]);
        ::_exit(0);
      } catch (const std::exception& error) {
        fmt::print(stderr, "wire_bench: {}\n", error.what());
        ::_exit(1);
      }
    }
    ::close(control[1]);
    children_[i] = {process, control[0]};
  }
  for (const int end : between) ::close(end);
}

Pair::~Pair() {
  for (const Child& child : children_) ::close(child.control);
  for (const Child& child : children_) ::waitpid(child.process, nullptr, 0);
}

Measured Pair::run(std::uint64_t passes) {
  for (const Child& child : children_) put(child.control, passes);
  std::array<Account, 2> accounts;
  for (std::size_t i = 0; i < 2; ++i) {
    if (!get(children_[i].control, accounts[i])) throw std::runtime_error("a process has ended");
  }
  const auto& [a, b] = accounts;
  return {std::max(a.end, b.end) - std::min(a.begin, b.begin), a.cpu + b.cpu, a.faults + b.faults,
          a.switches + b.switches, std::ranges::max(a.lateness, b.lateness, {}, &Lateness::worst)};
}

}  // namespace bench
