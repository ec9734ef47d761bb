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
  // Two checkpoints and one being written, each with the optimizer's state.
  room_.reserve(bytes_, config_.checkpoint_every > 0 ? 3 * 2 * bytes_ : 0);
}

void ModelKeeper::save(const std::string& ended) {
  const int rank = config_.session.rank;
  save_model(folder_.worker_model(rank), adapter_,
             {{kEndedKey, ended},
              {"model", architecture(config_.model)},
              {kRankKey, std::to_string(rank)},
              {kRunIdKey, config_.session.run_id}},
             room_.file());
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

}  // namespace fast
