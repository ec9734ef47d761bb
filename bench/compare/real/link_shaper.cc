#include "bench/compare/real/link_shaper.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "fast/errors.h"

namespace fast::compare {
namespace {

/// Runs a command without any user input in it; returns true where it ends with 0.
bool run(const std::string& command) {
  return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
}

void demand(const std::string& command) {
  if (run(command)) return;
  throw ConfigError("'" + command + "' failed: links cannot be shaped here",
                    "run as root on Linux with iproute2 and network namespaces, or leave link_mbit "
                    "out, or use time = \"virtual\"");
}

/// A queue of 50 ms, like a home router's; at least a few full packets.
std::string shaping(double mbit) {
  const double burst = std::max(16384.0, mbit * 1e6 / 8 / 250);
  return fmt::format("root tbf rate {:.0f}kbit burst {:.0f} latency 50ms", mbit * 1000, burst);
}

}  // namespace

LinkShaper::LinkShaper(int processes, double mbit)
    : processes_(processes),
      active_(mbit > 0),
      prefix_(fmt::format("fc{}", getpid() % 100000)),
      subnet_(static_cast<int>(getpid() % 250)) {
  if (!active_) return;
  try {
    const std::string bridge = prefix_ + "br";
    demand("ip link add " + bridge + " type bridge");
    demand("ip link set " + bridge + " up");
    for (int i = 0; i < processes_; ++i) {
      const std::string ns = name(i), outside = ns + "o", inside = ns + "i";
      demand("ip netns add " + ns);
      demand("ip link add " + outside + " type veth peer name " + inside + " netns " + ns);
      demand("ip link set " + outside + " master " + bridge + " up");
      demand("ip -n " + ns + " link set lo up");
      demand("ip -n " + ns + " addr add " + host(i) + "/24 dev " + inside);
      demand("ip -n " + ns + " link set " + inside + " up");
      demand("tc -n " + ns + " qdisc add dev " + inside + " " + shaping(mbit));
      demand("tc qdisc add dev " + outside + " " + shaping(mbit));
    }
  } catch (...) {
    take_down();
    throw;
  }
}

LinkShaper::~LinkShaper() {
  if (active_) take_down();
}

void LinkShaper::take_down() const {
  for (int i = 0; i < processes_; ++i) (void)run("ip netns del " + name(i));
  (void)run("ip link del " + prefix_ + "br");
}

std::string LinkShaper::name(int index) const {
  return fmt::format("{}n{}", prefix_, index);
}

std::string LinkShaper::host(int index) const {
  return active_ ? fmt::format("10.213.{}.{}", subnet_, index + 1) : "127.0.0.1";
}

std::vector<std::string> LinkShaper::launcher_arguments(int index,
                                                        const std::string& program) const {
  if (!active_) return {};
  return {"netns", "exec", name(index), program};
}

}  // namespace fast::compare
