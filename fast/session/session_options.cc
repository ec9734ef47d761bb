#include "fast/session/session_options.h"

#include <algorithm>

#include "fast/errors.h"
#include "fast/session/peers.h"
#include "fast/session/security.h"
#include "stencil/core/text.h"
#include "stencil/core/topology.h"
#include "stencil/transport/inproc/inproc_network.h"

namespace fast {
namespace {

constexpr std::size_t kMostRunId = 256;

bool is_control(unsigned char c) {
  return c < 0x20 || c == 0x7f;
}

}  // namespace

void SessionOptions::validate() const {
  const int size = stencil::Topology::parse(topology).size();
  if (rank < 0 || rank >= size) {
    throw ConfigError("rank " + std::to_string(rank) + " is outside " + topology,
                      "use 0 to " + std::to_string(size - 1));
  }
  if (run_id.empty() || run_id.size() > kMostRunId || std::ranges::any_of(run_id, is_control)) {
    throw ConfigError("the run id " + stencil::in_quotes(run_id) + " is empty, longer than " +
                          std::to_string(kMostRunId) + " bytes or holds control characters",
                      "name the run in a few letters, the same at every worker");
  }
  check_peer_template(peer_template);
  exchange.validate();
  check_security(*this, stencil::as_field);
}

std::shared_ptr<InprocNetwork> make_inproc_network() {
  return std::make_shared<InprocNetwork>();
}

}  // namespace fast
