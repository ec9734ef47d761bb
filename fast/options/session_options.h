#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stencil/core/option_field.h"
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

/// Writes warnings and errors to stderr, one line each, and nothing else. Any thread.
void log_to_stderr(LogLevel level, std::string_view line);

/// The options of one worker's session. Every field has a usable default except `topology`, `rank`
/// and the addresses.
struct SessionOptions {
  std::string topology = "ring:1";
  int rank = 0;
  std::string run_id = "fast";  ///< workers of different runs refuse each other
  /// HOST:PORT uses exchange.transport; "zmq://HOST:PORT", "tcp://HOST:PORT", "ipc://PATH" and so
  /// on use the transport that they name. Port 0: chosen by the system; host *: all interfaces.
  std::string listen = "127.0.0.1:0";
  std::map<int, std::string> peers{};  ///< rank -> endpoint; one end of each edge suffices
  std::string peers_file{};            ///< lines "RANK ENDPOINT", read again while one is missing
  std::string peer_template{};         ///< "worker-{rank}:5555"

  // Security. With keys, both ends of every link prove their ranks, and everything is encrypted.
  // Key files are read again when they change.
  std::string keys{};         ///< a folder with rank-K.key and public.keys, as `fast keys` makes it
  std::string key{};          ///< or this worker's key file
  std::string public_keys{};  ///< and the file of everybody's public keys
  /// A folder of keys that a launcher has made for this run. It serves where none of the above is
  /// given and `insecure` is not set.
  std::string run_keys{};
  bool insecure = false;  ///< does without keys, and may listen to other hosts all the same

  ExchangeOptions exchange{};  ///< mode, codec, waits and deadlines

  std::uint64_t budget = 0;  ///< samples over all workers after which done(); 0: no end
  /// Or passes over the examples of all workers together, whose number they learn by gossip from
  /// `data_size`. Not in mode sync.
  double epochs = 0;
  std::uint64_t data_size = 0;  ///< examples that this worker holds; other workers learn the mean
  std::uint64_t seed = 1;
  std::string means{};     ///< names of Session::mean(), "accuracy,val_loss"; alike at all workers
  stencil::Terms terms{};  ///< what else all workers must have in common, by name and value

  /// Counts the starts of this worker, where the caller keeps that count (fast-worker keeps it in
  /// its folder). Neighbours that know a later generation say so, so a lost count does no harm.
  std::uint64_t generation = 1;

  /// The file to which the session saves all that it needs to resume: the model, the parts attached
  /// to its adapter (an optimizer, a data loader) and its knowledge of the network. It saves at a
  /// step boundary, `checkpoint_every` seconds after the last time, and when training is over. The
  /// checkpoint before is kept beside it ("NAME.previous.EXTENSION"). Empty, or 0 seconds: only
  /// Session::save_checkpoint() saves.
  std::string checkpoint{};
  double checkpoint_every = 60;
  /// The last so many are kept beside the two ("NAME.STEPS.EXTENSION").
  int keep_checkpoints = 0;
  /// A checkpoint to resume from, if it exists: usually the file that `checkpoint` names, so that
  /// the same program resumes when it is started again. Where the newest checkpoint is damaged, the
  /// one before is used. Empty: begin anew.
  ///
  /// In both, {rank} stands for the rank. Workers that would write the same file are refused.
  std::string resume{};

  /// The run folder, for `fast report`: the session writes its metrics into worker-RANK/ there, a
  /// line a second, and its model when it has finished. Other files of the folder are left alone.
  /// Empty: writes nothing.
  std::string out{};

  /// What else `exchange.memory_budget` has to hold, in bytes by name: a worker's data, say.
  std::vector<std::pair<std::string, std::uint64_t>> held_beside{};

  /// The file for a recording of the exchange's decisions, for `fast replay`: all that the engine
  /// saw and decided in the last `record_seconds`, and up to as long before, in 64 MiB at most. It
  /// holds no values of the model. It is written when the session ends, when its background thread
  /// fails, and when asked by `record_now`. {rank} stands for the rank. Empty: nothing is recorded.
  /// Workers that would write the same file are refused.
  std::string record{};
  double record_seconds = 60;
  /// Set it to true to have the recording written soon; the session sets it to false. It must
  /// outlive the session; a signal handler may set it. Null: none.
  std::atomic<bool>* record_now = nullptr;

  /// Set it to true to have a checkpoint saved at the next step boundary; the session sets it to
  /// false. Lifetime and threads as above. Null: none.
  std::atomic<bool>* save_now = nullptr;

  /// Set it to true to stop early: every wait for a neighbour then ends at once. It must outlive
  /// the session; a signal handler may set it. Null: none.
  const std::atomic<bool>* stop = nullptr;
  /// Set it to true to pause: every wait for a neighbour then ends at once, and finish() completes
  /// what is in flight, saves a checkpoint, returns Agreement::kPaused and tells the neighbours,
  /// with the session's end, that this worker intends to come back. Nobody waits for it meanwhile.
  /// A session that resumes from the checkpoint goes on. It must outlive the session; a signal
  /// handler may set it. Null: none. Not in mode sync.
  const std::atomic<bool>* pause = nullptr;
  /// Called by the training thread about ten times a second for as long as it waits for neighbours
  /// where `stop` or `pause` would end the wait, which this may set. For languages that run the
  /// handlers of signals only between two calls. Must not throw and must not use the session.
  /// Empty: none.
  std::function<void()> waiting{};

  /// Called by the training and the background thread; must not block.
  LogSink log = log_to_stderr;
  /// How messages call options: by field, unless a program has flags of the same names.
  stencil::OptionNaming naming = stencil::as_field;
  /// For "inproc://": workers in one process that share this network can connect.
  std::shared_ptr<InprocNetwork> inproc{};

  /// Throws ConfigError that names the first option out of its range, its value and the remedy.
  void validate() const { validate(workers()); }
  /// The same on a grid that has changed: ranks are below `ranks`.
  void validate(int ranks) const;

  /// Of the topology. Throws ConfigError.
  [[nodiscard]] int workers() const;

  /// The defaults, or those given, and over them what the environment says, as `fast run` and other
  /// launchers set it: each option that has a name on command lines is a variable too,
  /// FAST_TOPOLOGY, FAST_RANK, FAST_LISTEN, FAST_PEER ("1=node1:5555,2=node2:5555"),
  /// FAST_PHASE_LOCK
  /// .. Without FAST_RANK the rank is that of torchrun (RANK), mpirun, srun or Kubernetes, or the
  /// host's name's. Throws ConfigError that names the variable, its value and the remedy; also
  /// where a topology of several workers has no rank. Warns of misspelt ones in `log`.
  [[nodiscard]] static SessionOptions from_environment();
  [[nodiscard]] static SessionOptions from_environment(SessionOptions defaults);
};

/// A network within this process, for "inproc://" addresses.
[[nodiscard]] std::shared_ptr<InprocNetwork> make_inproc_network();

}  // namespace fast
