#pragma once

#include <optional>
#include <string>

#include "fast/options/session_options.h"
#include "stencil/runtime/pump_status.h"

namespace fast {

/// Tells the user once when sweeps become rarer to keep within the data allowance, and at each rest
/// and its end. One thread.
class DataWatch {
 public:
  /// A line where there is one to log.
  [[nodiscard]] std::optional<std::string> look(const stencil::PumpStatus& status,
                                                const SessionOptions& options);

 private:
  bool told_rarer_ = false, rests_ = false;
};

}  // namespace fast
