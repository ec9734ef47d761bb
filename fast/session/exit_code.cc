#include "fast/session/exit_code.h"

#include "fast/errors.h"

namespace fast {
namespace {

template <typename Error>
bool is(const std::exception& error) {
  return dynamic_cast<const Error*>(&error) != nullptr;
}

}  // namespace

ExitCode exit_code(const std::exception& error) {
  if (is<stencil::NetworkError>(error)) return ExitCode::kNetwork;  // before its base class
  if (is<ConfigError>(error)) return ExitCode::kUsage;
  if (is<DataError>(error)) return ExitCode::kData;
  if (is<FileError>(error)) return ExitCode::kFile;
  if (is<AdapterError>(error)) return ExitCode::kModel;
  if (is<NonFiniteError>(error)) return ExitCode::kNonFinite;
  if (is<RefusedError>(error)) return ExitCode::kRefused;
  if (is<DeadlineError>(error)) return ExitCode::kDeadline;
  return ExitCode::kFailure;
}

ExitCode exit_code(Agreement agreement) {
  switch (agreement) {
    case Agreement::kAgreed:
      return ExitCode::kOk;
    case Agreement::kAlone:
      return ExitCode::kWorkerLost;
    case Agreement::kDeadline:
      return ExitCode::kDeadline;
    case Agreement::kPaused:
      return ExitCode::kInterrupted;
  }
  return ExitCode::kFailure;
}

}  // namespace fast
