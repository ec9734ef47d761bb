#include "stencil/transport/factory.h"

#include <algorithm>
#include <vector>

#include "stencil/core/error.h"
#include "stencil/core/text.h"
#include "stencil/transport/inproc/inproc_transport.h"
#include "stencil/transport/stream/stream_transport.h"
#include "stencil/transport/zmq/zmq_transport.h"

namespace stencil {
namespace {

/// One scheme of addresses. To add a transport: a folder beside this file and a line here.
struct TransportKind {
  std::string_view scheme, form;
  std::unique_ptr<Transport> (*make)(const TransportOptions& options);
};

constexpr TransportKind kKinds[] = {
    {"zmq://", "zmq://HOST:PORT", make_zmq_transport},
    {"zmq+ipc://", "zmq+ipc://PATH", make_zmq_transport},
    {"tcp://", "tcp://HOST:PORT", make_stream_transport},
    {"ipc://", "ipc://PATH", make_stream_transport},
    {"inproc://", "inproc://NAME", make_inproc_transport},
};

}  // namespace

std::string transport_forms() {
  std::vector<std::string_view> forms;
  for (const TransportKind& kind : kKinds) forms.push_back(kind.form);
  return listed(forms);
}

std::unique_ptr<Transport> make_transport(const TransportOptions& options) {
  const std::string& listen = options.listen;
  if (listen.empty()) {
    return options.inproc ? make_inproc_transport(options) : make_stream_transport(options);
  }
  const auto kind = std::ranges::find_if(
      kKinds, [&](const TransportKind& one) { return listen.starts_with(one.scheme); });
  if (kind == std::end(kKinds)) {
    throw ConfigError("cannot listen on " + in_quotes(listen) + ": unknown scheme",
                      "use one of " + transport_forms());
  }
  return kind->make(options);
}

}  // namespace stencil
