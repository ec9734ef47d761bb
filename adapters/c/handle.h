#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "adapters/c/caller_state.h"
#include "adapters/c/fast.h"
#include "adapters/c/transfer_adapter.h"
#include "fast/session/session.h"

/// The object behind the handle of fast.h. Any thread may set `stop` and call `session->status()`;
/// everything else belongs to the training thread.
struct fast_session {
  fast::SessionOptions options;
  std::set<std::string> given;  ///< the variables of options that fast_set() has set
  bool by_environment = false;  ///< fast_set_from_environment() was called
  std::vector<fast::NamedTensor> arrays;
  std::vector<std::pair<std::string, std::size_t>> aliases;  ///< see fast_array_alias()
  float* averages = nullptr;                                 ///< see fast_set_averages()
  fast::c::Transfers transfers;
  fast::c::CallerState state;
  pid_t process = 0;  ///< the process of the session's thread
  std::atomic<bool> stop = false;
  std::string error;
  std::string endpoint;
  std::unique_ptr<fast::c::TransferAdapter> adapter;
  std::unique_ptr<fast::Session> session;  ///< null until open; last: it uses all of the above
};

namespace fast::c {

/// The array that a caller of fast.h describes. Throws ConfigError where the description is
/// invalid.
[[nodiscard]] NamedTensor array(fast_role role, const char* name, const char* type,
                                std::size_t rank, const std::int64_t* shape, void* memory);

}  // namespace fast::c
