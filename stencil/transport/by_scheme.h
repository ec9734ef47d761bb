#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "stencil/transport/factory.h"

namespace stencil {

/// One kind of transport, by how its addresses begin.
struct TransportKind {
  std::string_view scheme, form;
  bool proves_keys;
  std::unique_ptr<Transport> (*make)(const TransportOptions& options);
};

/// A transport of several kinds: each address goes to the kind that its scheme names, whichever it
/// is that listens. `kinds` lives for ever. Throws ConfigError as make_transport().
[[nodiscard]] std::unique_ptr<Transport> make_transport_by_scheme(
    std::span<const TransportKind> kinds, const TransportOptions& options);

}  // namespace stencil
