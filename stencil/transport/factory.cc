#include "stencil/transport/factory.h"

#include "stencil/core/error.h"
#include "stencil/transport/inproc/inproc_transport.h"
#include "stencil/transport/stream/stream_transport.h"

namespace stencil {

std::unique_ptr<Transport> make_transport(const TransportOptions& options) {
  const std::string& listen = options.listen;
  if (listen.starts_with("tcp://") || listen.starts_with("ipc://"))
    return make_stream_transport(options);
  if (listen.starts_with("inproc://")) return make_inproc_transport(options);
  if (!listen.empty())
    throw ConfigError("cannot listen on '" + listen + "': unknown scheme",
                      "use tcp://HOST:PORT, ipc://PATH or inproc://NAME");
  return options.inproc ? make_inproc_transport(options) : make_stream_transport(options);
}

}  // namespace stencil
