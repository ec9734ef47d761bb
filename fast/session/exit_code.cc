#include "fast/session/exit_code.h"

#include "fast/errors.h"
#include "fast/session/exchange.h"

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

}  // namespace fast
