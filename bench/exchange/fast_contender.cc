#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "adapters/flat/flat_adapter.h"
#include "bench/exchange/contender.h"
#include "bench/exchange/meeting.h"
#include "bench/exchange/stopwatch.h"
#include "fast/options/key_files.h"
#include "fast/session/session.h"

namespace fast::exchange_bench {
namespace {

/// The pace of a training loop that only waits.
struct Pace {
  double step_seconds;  ///< between boundaries
  double sweeps;        ///< sweeps per step
};

/// What carries the exchange: each other's memory, sockets and ZeroMQ, both without and with keys.
enum class Way { kShared, kTcp, kTcpKeys, kZmq, kZmqKeys };

/// While the training loop passes its boundaries, the background thread averages with neighbours.
class Fast final : public Contender {
 public:
  Fast(const Site& site, Pace pace, Way way)
      : site_(site),
        pace_(pace),
        way_(way),
        values_(site.floats, static_cast<float>(site.rank)),
        adapter_(values_) {}

  Measured measure() override {
    SessionOptions options;
    options.topology = site_.topology.spec();
    options.rank = site_.rank;
    options.peer_template = "file:" + (site_.meeting / "endpoint-{rank}").string();
    options.exchange.sweeps = pace_.sweeps;
    options.exchange.linger = 0;  // what a boundary does is measured, not what it may wait for
    if (way_ != Way::kShared) options.exchange.share_memory = "never";
    options.exchange.transport = way_ == Way::kTcp || way_ == Way::kTcpKeys ? "tcp" : "zmq";
    if (way_ == Way::kTcpKeys || way_ == Way::kZmqKeys) make_keys(options);
    options.exchange.settle_deadline = 1e-3;
    Session session(adapter_, options);
    leave_note(site_.meeting, "endpoint-" + std::to_string(site_.rank), session.endpoint());
    session.join();
    pass_time(session, kWarmUpSeconds, nullptr);
    await_all(site_.meeting, "warm", site_.rank, site_.topology.size());

    Measured out;
    const std::uint64_t before = sweeps(session), sent = session.status().counter("bytes_sent");
    const double cpu = cpu_seconds(), own = cpu_seconds(RUSAGE_THREAD);
    const double elapsed = pass_time(session, site_.seconds, &out.stalls);
    const double boundaries = cpu_seconds(RUSAGE_THREAD) - own;
    const double background = cpu_seconds() - cpu - boundaries;
    const std::uint64_t made = sweeps(session) - before;
    if (made == 0) {
      throw std::runtime_error("no sweep was completed in the measured time; raise --seconds");
    }
    out.seconds = elapsed / static_cast<double>(made);
    // Adds one boundary, since contenders in step also take over the averages once a round.
    out.cpu_seconds = background / static_cast<double>(made) +
                      boundaries / static_cast<double>(out.stalls.size());
    out.bytes = static_cast<double>(session.status().counter("bytes_sent") - sent) /
                static_cast<double>(made);
    out.memory_bytes = own_memory();
    // Keeps answering neighbours that still measure.
    await_all(site_.meeting, "measured", site_.rank, site_.topology.size());
    return out;
  }

 private:
  static constexpr double kWarmUpSeconds = 1;

  /// Makes this worker's pair of keys and the file of all public keys.
  void make_keys(SessionOptions& options) const {
    const KeyPair pair = make_key_pair();
    const std::string rank = std::to_string(site_.rank);
    leave_note(site_.meeting, "secret-" + rank, key_file_text(pair, site_.rank));
    leave_note(site_.meeting, "public-" + rank, stencil::text(pair.open));
    await_all(site_.meeting, "keys", site_.rank, site_.topology.size());
    std::vector<stencil::PublicKey> all;
    for (int other = 0; other < site_.topology.size(); ++other) {
      std::ifstream in(site_.meeting / ("public-" + std::to_string(other)));
      std::string key;
      in >> key;
      all.push_back(stencil::parse_public_key(key).value());
    }
    leave_note(site_.meeting, "all-" + rank, public_keys_text(all));
    options.key = (site_.meeting / ("secret-" + rank)).string();
    options.public_keys = (site_.meeting / ("all-" + rank)).string();
    std::filesystem::permissions(options.key, std::filesystem::perms::owner_read);
  }

  double pass_time(Session& session, double duration, std::vector<double>* stalls) const {
    const Clock::time_point begun = Clock::now();
    while (since(begun) < duration) {
      const Clock::time_point boundary = Clock::now();
      session.exchange({.samples = 1});
      if (stalls != nullptr) stalls->push_back(since(boundary));
      std::this_thread::sleep_for(std::chrono::duration<double>(pace_.step_seconds));
    }
    return since(begun);
  }

  /// Completed ones; the status is up to 50 ms old.
  static std::uint64_t sweeps(const Session& session) {
    std::uint64_t sum = 0;
    for (const auto& neighbour : session.status().neighbours) sum += neighbour.sweeps;
    return sum;
  }

  Site site_;
  Pace pace_;
  Way way_;
  std::vector<float> values_;
  FlatAdapter adapter_;
};

/// Boundaries are far apart, so that they take little of the time.
Pace never_out_of_work(const Site& site) {
  return {.step_seconds = std::max(0.1, 1e-8 * static_cast<double>(site.floats)), .sweeps = 1000};
}

Pace one_sweep_a_step(const Site& site) {
  return {.step_seconds = site.step_seconds, .sweeps = 1};
}

}  // namespace

std::unique_ptr<Contender> make_fast(const Site& site) {
  return std::make_unique<Fast>(site, never_out_of_work(site), Way::kShared);
}

std::unique_ptr<Contender> make_fast_tcp(const Site& site) {
  return std::make_unique<Fast>(site, never_out_of_work(site), Way::kTcp);
}

std::unique_ptr<Contender> make_fast_zmq(const Site& site) {
  return std::make_unique<Fast>(site, never_out_of_work(site), Way::kZmq);
}

std::unique_ptr<Contender> make_fast_tcp_keys(const Site& site) {
  return std::make_unique<Fast>(site, never_out_of_work(site), Way::kTcpKeys);
}

std::unique_ptr<Contender> make_fast_zmq_keys(const Site& site) {
  return std::make_unique<Fast>(site, never_out_of_work(site), Way::kZmqKeys);
}

std::unique_ptr<Contender> make_fast_paced(const Site& site) {
  return std::make_unique<Fast>(site, one_sweep_a_step(site), Way::kShared);
}

std::unique_ptr<Contender> make_fast_tcp_paced(const Site& site) {
  return std::make_unique<Fast>(site, one_sweep_a_step(site), Way::kTcp);
}

}  // namespace fast::exchange_bench
