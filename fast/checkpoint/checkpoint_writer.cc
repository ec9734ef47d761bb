#include "fast/checkpoint/checkpoint_writer.h"

#include <chrono>
#include <exception>
#include <string>
#include <utility>

#include "fast/checkpoint/checkpoint.h"
#include "fast/checkpoint/kept_checkpoints.h"
#include "fast/error_text.h"

namespace fast {

bool CheckpointWriter::busy() const {
  return writing_.valid() &&
         writing_.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
}

void CheckpointWriter::wait() {
  if (writing_.valid()) writing_.get();
}

StateWriter& CheckpointWriter::begin() {
  wait();
  state_.clear();
  return state_;
}

void CheckpointWriter::write(std::filesystem::path file, stencil::Terms terms, Keep keep) {
  held_ = state_.held();
  writing_ = std::async(
      std::launch::async, [this, file = std::move(file), terms = std::move(terms), keep] {
        try {
          write_checkpoint(file, state_.tensors(), terms);
          if (keep.most > 0) keep_checkpoint(file, keep.steps, keep.most);
        } catch (const std::exception& error) {
          log_(stencil::LogLevel::kError, std::string("no checkpoint: ") + error_text(error));
        }
      });
}

}  // namespace fast
