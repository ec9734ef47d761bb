#pragma once

#include <string>
#include <string_view>

#include "fast/adapter.h"
#include "fast/options/session_options.h"
#include "fast/run/run_folder.h"
#include "fast/session/exchange.h"
#include "fast/session/recorder.h"

namespace fast {

/// What a session leaves in its run folder (SessionOptions::out), for `fast report`: its metrics,
/// a line of progress a second, and its model when it has finished. Training thread.
class RunWriter {
 public:
  /// Writes the first line; `steps` are those made before a resumption. Throws FileError where the
  /// folder cannot be written. `adapter` must outlive it.
  RunWriter(const SessionOptions& options, ModelAdapter& adapter, std::uint64_t steps);

  /// The session has joined. A second call does nothing.
  void begin(const Exchange& exchange);
  /// A step, and the seconds that its exchange() took.
  void add(const StepReport& step, double seconds, const Exchange& exchange);
  /// This worker says a value of a mean.
  void say(std::string_view name, double value) { recorder_.say(name, value); }
  /// This worker ends the run for all, for this reason.
  void stop_all(std::string_view reason);
  /// Training is over, and averaging to agreement begins.
  void end_training(const Exchange& exchange);
  /// The model will not change any more: saves it. A file that cannot be written is logged.
  void finish(Agreement agreement, const Exchange& exchange);
  /// The session ends. Where it has not finished, the record says so.
  void close(const Exchange& exchange);

 private:
  [[nodiscard]] bool stopped() const { return stop_ != nullptr && *stop_; }
  void save(Agreement agreement);

  RunFolder folder_;
  int rank_, workers_;
  ModelAdapter& adapter_;
  std::string run_id_;
  const std::atomic<bool>* stop_;
  LogSink log_;
  Recorder recorder_;
  std::uint64_t steps_;
  bool begun_ = false, ended_ = false;
};

}  // namespace fast
