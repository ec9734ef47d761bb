#include "stencil/transport/factory.h"

#include <algorithm>
#include <vector>

#include "stencil/core/error.h"
#include "stencil/core/text.h"
#include "stencil/transport/by_scheme.h"
#include "stencil/transport/inproc/inproc_transport.h"
#include "stencil/transport/stream/endpoint.h"
#include "stencil/transport/stream/stream_transport.h"
#include "stencil/transport/zmq/zmq_transport.h"

namespace stencil {
namespace {

template <const Schemes& kSchemes>
void check(const std::string& endpoint) {
  (void)parse_endpoint(endpoint, true, kSchemes);
}

/// To add a transport: a folder beside this file and a line here.
constexpr TransportKind kKinds[] = {
    {"zmq://", "zmq://HOST:PORT", true, make_zmq_transport, check<kZmqSchemes>},
    {"zmq+ipc://", "zmq+ipc://PATH", true, make_zmq_transport, check<kZmqSchemes>},
    {"tcp://", "tcp://HOST:PORT", false, make_stream_transport, check<kStreamSchemes>},
    {"ipc://", "ipc://PATH", false, make_stream_transport, check<kStreamSchemes>},
    {"inproc://", "inproc://NAME", true, make_inproc_transport, [](const std::string&) {}},
};

}  // namespace

EventLoop& loop_of(const TransportOptions& options) {
  if (options.loop == nullptr) throw InvariantError("a transport without a loop");
  return *options.loop;
}

std::string transport_forms() {
  std::vector<std::string_view> forms;
  for (const TransportKind& kind : kKinds) forms.push_back(kind.form);
  return listed(forms);
}

void check_address(const std::string& endpoint, const std::string& usual_scheme) {
  const std::string whole = with_scheme(endpoint, usual_scheme);
  kind_of(kKinds, "dial", whole).check(whole);
}

bool proves_keys(const std::string& endpoint, const std::string& usual_scheme) {
  const std::string whole = with_scheme(endpoint, usual_scheme);
  return std::ranges::any_of(kKinds, [&](const TransportKind& kind) {
    return whole.starts_with(kind.scheme) && kind.proves_keys;
  });
}

std::unique_ptr<Transport> make_transport(const TransportOptions& options) {
  return make_transport_by_scheme(kKinds, options);
}

}  // namespace stencil
