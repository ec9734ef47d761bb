#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "stencil/core/terms.h"
#include "stencil/core/types.h"
#include "stencil/runtime/exchange_options.h"

namespace stencil {
class InprocNetwork;
}

namespace fast {

using stencil::ExchangeOptions;
using stencil::InprocNetwork;
using stencil::LogLevel;
using stencil::LogSink;

/// How a worker takes part. Every field but `topology`, `rank` and the addresses may stay as it is.
struct SessionOptions {
  std::string topology = "ring:1";
  int rank = 0;
  std::string run_id = "fast";               ///< workers of different runs refuse each other
  std::string listen = "tcp://127.0.0.1:0";  ///< port 0: handed out by the system
  std::map<int, std::string> peers{};        ///< rank -> endpoint; one end of each edge suffices
  std::string peers_file{};     ///< lines "RANK ENDPOINT", read anew while one is missing
  std::string peer_template{};  ///< "tcp://worker-{rank}:5555"

  ExchangeOptions exchange{};  ///< mode, codec, waits and deadlines

  std::uint64_t budget = 0;     ///< samples over all workers after which done(); 0: no end
  std::uint64_t data_size = 0;  ///< examples held here, for the network's knowledge
  std::uint64_t seed = 1;
  stencil::Terms terms{};  ///< what else all workers must have in common, by name and value

  /// Rises by one with each start of this worker, where that is kept somewhere (fast-worker keeps
  /// it in its folder). Neighbours that know a later one say so, so a lost count does no harm.
  std::uint64_t generation = 1;

  /// Where the session saves all that it takes to go on: the model, the parts attached to its
  /// adapter (an optimizer, a data loader) and what it knows of the network. It does so by itself
  /// at a step boundary, `checkpoint_every` seconds after the last time, and when training is over;
  /// the one before is kept beside it ("NAME.previous.EXTENSION"). Empty, or 0 seconds: only by
  /// Session::save().
  std::string checkpoint{};
  double checkpoint_every = 60;
  /// A checkpoint to go on from, where there is one: mostly the file that `checkpoint` names, so
  /// that the same program goes on when it is started again. Where the newest is damaged it is the
  /// one before. Empty: begin anew.
  std::string resume{};

  /// Where given and true, every wait for a neighbour ends at once: set it to stop early. Must
  /// outlive the session; may be set by a signal handler.
  const std::atomic<bool>* stop = nullptr;

  /// Called from the training and the background thread; must not block.
  LogSink log = [](LogLevel, std::string_view) {};
  /// For "inproc://": workers in one process that share it can meet.
  std::shared_ptr<InprocNetwork> inproc{};

  /// Throws ConfigError that names the first option out of its range, its value and the remedy.
  void validate() const;
};

/// A network within this process, for "inproc://" addresses.
[[nodiscard]] std::shared_ptr<InprocNetwork> make_inproc_network();

}  // namespace fast
