#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "adapters/c/fast.h"
#include "adapters/c/transfer_adapter.h"
#include "fast/session/session.h"

/// What stands behind the handle of fast.h. `stop` may be set and `session->status()` asked by any
/// thread; all else belongs to the training thread.
struct fast_session {
  fast::SessionOptions options;
  std::vector<fast::NamedTensor> parameters, buffers;
  fast::c::Transfers transfers;
  pid_t process = 0;  ///< that the session's thread lives in
  std::atomic<bool> stop = false;
  std::string error;
  std::string endpoint;
  std::unique_ptr<fast::c::TransferAdapter> adapter;
  std::unique_ptr<fast::Session> session;  ///< null until open; last: it uses all of the above
};

namespace fast::c {

/// The memory that a caller of fast.h describes. Throws ConfigError where it describes none.
[[nodiscard]] NamedTensor tensor(const char* name, const char* type, std::size_t rank,
                                 const std::int64_t* shape, void* memory);

}  // namespace fast::c
