#include "fast/train/model_keeper.h"

#include <utility>

#include "fast/error_text.h"
#include "fast/errors.h"
#include "fast/run/model_file.h"
#include "fast/train/models.h"

namespace fast {
namespace {

/// Room for the header of a model's file.
constexpr std::size_t kHeaderRoom = 64 * 1024;

}  // namespace

ModelKeeper::ModelKeeper(const WorkerConfig& config, ModelAdapter& adapter, LogSink log)
    : config_(config),
      adapter_(adapter),
      log_(std::move(log)),
      folder_(config.out),
      room_(folder_.worker(config.session.rank) / ".room") {}

void ModelKeeper::reserve_room() {
  bytes_ = kHeaderRoom;
  for (const NamedTensor& tensor : adapter_.state()) bytes_ += tensor.bytes.size();
  // Two checkpoints and one being written, each with the optimizer's state; the best and the next.
  const auto kept = static_cast<std::size_t>(config_.session.keep_checkpoints);
  const std::size_t checkpoints = config_.checkpoint_every > 0 ? (3 + kept) * 2 * bytes_ : 0;
  room_.reserve(bytes_, checkpoints + (config_.evaluation.keep_best ? 2 * bytes_ : 0));
}

SafetensorsMetadata ModelKeeper::metadata() const {
  return {{"model", architecture(config_.model)},
          {kRankKey, std::to_string(config_.session.rank)},
          {kRunIdKey, config_.session.run_id}};
}

void ModelKeeper::save(const std::string& ended) {
  SafetensorsMetadata all = metadata();
  all[kEndedKey] = ended;
  save_model(folder_.worker_model(config_.session.rank), adapter_, all, room_.file());
  try {
    room_.reserve(bytes_);  // for the next save, if there is one
  } catch (const FileError&) {
  }
}

void ModelKeeper::try_to_save(const std::string& ended) {
  unsaved_ = true;
  try {
    save(ended);
    unsaved_ = false;
  } catch (const std::exception& error) {
    log_(LogLevel::kError, std::string("the model cannot be saved: ") + error_text(error));
  }
}

void ModelKeeper::propose(std::uint64_t number) {
  SafetensorsMetadata all = metadata();
  all[kEvaluationKey] = number == kLast ? "last" : std::to_string(number);
  try {
    save_model(folder_.proposed(config_.session.rank), adapter_, all);
  } catch (const std::exception& error) {
    log_(LogLevel::kError, std::string("the model cannot be kept: ") + error_text(error));
  }
}

void ModelKeeper::keep_proposed() {
  const int rank = config_.session.rank;
  std::error_code error;
  std::filesystem::rename(folder_.proposed(rank), folder_.worker_best(rank), error);
  if (!error) return;
  log_(LogLevel::kError, "the best model cannot be kept: " + error.message());
}

void ModelKeeper::drop_proposed() {
  std::error_code ignored;
  std::filesystem::remove(folder_.proposed(config_.session.rank), ignored);
}

}  // namespace fast
