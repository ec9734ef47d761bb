#include "fast/options/addresses.h"

#include "fast/options/peers.h"
#include "stencil/transport/factory.h"

namespace fast {

std::string usual_scheme(const SessionOptions& options) {
  return options.exchange.transport == "tcp" ? "tcp://" : "zmq://";
}

void check_addresses(const SessionOptions& options) {
  const auto check = [&](const std::string& address) {
    if (address.empty() || address.starts_with(kFileScheme)) return;
    stencil::check_address(address, usual_scheme(options));
  };
  for (const auto& [rank, address] : options.peers) check(address);
  check(for_rank(options.peer_template, options.rank));
}

}  // namespace fast
