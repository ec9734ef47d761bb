#include "fast/session/recording.h"

#include <string>
#include <string_view>

#include "fast/errors.h"
#include "fast/run/atomic_file.h"
#include "stencil/core/types.h"

namespace fast {

Recording::Recording(const SessionOptions& options, std::size_t most) : options_(options) {
  if (options.record.empty()) return;
  const AtomicFile can_be_written(options.record);
  const std::string lock = options.record + ".lock";
  lock_ = LockFile::take(lock);
  if (!lock_) {
    throw ConfigError(
        "the recording " + options.record + " is that of " + LockFile::holder_of(lock) + ", too",
        "give each worker its own: {rank} in the name stands for the rank");
  }
  journal_.emplace(
      stencil::Journal::Keep{.time = stencil::seconds(options.record_seconds), .bytes = most});
}

void Recording::heed() const {
  if (journal_ && options_.record_now != nullptr && options_.record_now->exchange(false)) write();
}

void Recording::write() const {
  if (!journal_) return;
  const stencil::Bytes bytes = journal_->file();
  try {
    write_atomically(options_.record,
                     std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  } catch (const FileError& error) {
    options_.log(LogLevel::kWarning, std::string("no recording: ") + error.what());
  }
}

}  // namespace fast
