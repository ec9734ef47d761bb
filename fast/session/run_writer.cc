#include "fast/session/run_writer.h"

#include <string>

#include "fast/error_text.h"
#include "fast/errors.h"
#include "fast/exit_codes.h"
#include "fast/run/atomic_file.h"
#include "fast/run/model_file.h"
#include "fast/session/exit_code.h"
#include "stencil/core/topology.h"

namespace fast {
namespace {

constexpr double kSecondsBetweenLines = 1;

WorkerStart start_of(const SessionOptions& options, int workers) {
  return {.rank = options.rank,
          .workers = workers,
          .topology = options.topology,
          .mode = options.exchange.mode,
          .model = "",
          .data = "",
          .run_id = options.run_id,
          .version = "",
          .epochs = options.epochs,
          .budget = options.budget,
          .exchange = options.exchange};
}

std::filesystem::path made(const RunFolder& folder, int rank) {
  make_writable_folder(folder.worker(rank));
  return folder.metrics(rank);
}

}  // namespace

RunWriter::RunWriter(const SessionOptions& options, ModelAdapter& adapter, std::uint64_t steps)
    : folder_(options.out),
      rank_(options.rank),
      workers_(stencil::Topology::parse(options.topology).size()),
      adapter_(adapter),
      run_id_(options.run_id),
      stop_(options.stop),
      log_(options.log),
      recorder_(made(folder_, rank_), start_of(options, workers_), steps, options.log),
      steps_(steps) {}

void RunWriter::begin(const Exchange& exchange) {
  if (begun_) return;
  begun_ = true;
  recorder_.begin_training(exchange);
}

void RunWriter::add(const StepReport& step, double seconds, const Exchange& exchange) {
  ++steps_;
  recorder_.add_step({.samples = step.samples, .loss = step.loss});
  recorder_.add_exchange(seconds);
  if (recorder_.since_report() >= kSecondsBetweenLines) recorder_.report(exchange);
}

void RunWriter::stop_all(std::string_view reason) {
  recorder_.event("stopping", "ends the run for all workers: " + std::string(reason));
}

void RunWriter::end_training(const Exchange& exchange) {
  if (ended_ || !begun_) return;
  recorder_.end_training();
  recorder_.report(exchange);
}

void RunWriter::finish(Agreement agreement, const Exchange& exchange) {
  if (ended_) return;
  ended_ = true;
  if (begun_) recorder_.report(exchange);
  if (steps_ > 0 || !stopped()) save(agreement);
  const SessionStatus status = exchange.status();
  const bool alone = workers_ > 1 && agreement != Agreement::kAgreed && !status.has_exchanged();
  const bool learnt = status.not_learnt.empty();
  const bool early = stopped() || agreement == Agreement::kPaused;
  const ExitCode code = early     ? ExitCode::kInterrupted
                        : alone   ? ExitCode::kNoExchange
                        : !learnt ? ExitCode::kNotLearnt
                                  : exit_code(agreement);
  recorder_.end(static_cast<int>(code), learnt ? std::string(name(agreement)) : status.not_learnt,
                status.counters);
}

void RunWriter::save(Agreement agreement) {
  const bool paused = agreement == Agreement::kPaused;
  const bool early = paused || (stopped() && agreement != Agreement::kAgreed);
  try {
    save_model(folder_.worker_model(rank_), adapter_,
               {{kEndedKey, early ? kEndedEarly : std::string(name(agreement))},
                {kRankKey, std::to_string(rank_)},
                {kRunIdKey, run_id_}});
  } catch (const FileError& error) {
    log_(LogLevel::kError, std::string("the model cannot be saved: ") + error_text(error));
  }
}

void RunWriter::close(const Exchange& exchange) {
  if (ended_) return;
  ended_ = true;
  recorder_.end(static_cast<int>(stopped() ? ExitCode::kInterrupted : ExitCode::kFailure),
                "the session was closed before finish()", exchange.status().counters);
}

}  // namespace fast
