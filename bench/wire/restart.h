#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace bench {

/// How long links take to be up again, in seconds, one for each restart.
struct Restarts {
  std::vector<double> listener;  ///< from when it listens again: the dialler waits its interval
  std::vector<double> dialler;   ///< from its dial
};

/// Both ends in one process over loopback; each is started anew `times` times. The dial interval is
/// the product's: 50 ms at first, doubled with each dial in vain, 2 s at most. `away`: how long the
/// listener is gone. Throws std::runtime_error where a link does not come back.
[[nodiscard]] Restarts restart(const std::string& scheme, bool keys, int times,
                               std::chrono::milliseconds away);

}  // namespace bench
