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
  bool proves_keys;
  std::unique_ptr<Transport> (*make)(const TransportOptions& options);
};

constexpr TransportKind kKinds[] = {
<<<<<<< HEAD
    {"zmq://", "zmq://HOST:PORT", make_zmq_transport},
    {"zmq+ipc://", "zmq+ipc://PATH", make_zmq_transport},
    {"tcp://", "tcp://HOST:PORT", make_stream_transport},
    {"ipc://", "ipc://PATH", make_stream_transport},
    {"inproc://", "inproc://NAME", make_inproc_transport},
=======
    {"tcp://", "tcp://HOST:PORT", false, make_stream_transport},
    {"ipc://", "ipc://PATH", false, make_stream_transport},
    {"inproc://", "inproc://NAME", true, make_inproc_transport},
>>>>>>> keys
};

/// For whoever only dials.
const TransportKind& usual_kind(bool inproc) {
  return *std::ranges::find(kKinds, inproc ? "inproc://" : "tcp://", &TransportKind::scheme);
}

const TransportKind& kind_of(const TransportOptions& options) {
  const std::string& listen = options.listen;
  if (listen.empty()) return usual_kind(options.inproc != nullptr);
  const auto kind = std::ranges::find_if(
      kKinds, [&](const TransportKind& one) { return listen.starts_with(one.scheme); });
  if (kind != std::end(kKinds)) return *kind;
  throw ConfigError("cannot listen on " + in_quotes(listen) + ": unknown scheme",
                    "use one of " + transport_forms());
}

}  // namespace

std::string transport_forms() {
  std::vector<std::string_view> forms;
  for (const TransportKind& kind : kKinds) forms.push_back(kind.form);
  return listed(forms);
}

std::unique_ptr<Transport> make_transport(const TransportOptions& options) {
  const TransportKind& kind = kind_of(options);
  if (options.keys && !kind.proves_keys) {
    throw ConfigError("bare sockets (" + std::string(kind.scheme) + ") prove no keys",
                      "use a transport that does, or leave the keys out");
  }
  return kind.make(options);
}

}  // namespace stencil
