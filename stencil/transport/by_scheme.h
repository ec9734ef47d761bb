#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "stencil/transport/factory.h"

namespace stencil {

/// One kind of transport, by how its addresses begin.
struct TransportKind {
  std::string_view scheme, form;
  std::unique_ptr<Transport> (*make)(const TransportOptions& options);
  void (*check)(const std::string& endpoint);  ///< throws ConfigError where it cannot be dialled
};

/// The address with a scheme: its own, or else the usual one. "" stays.
[[nodiscard]] std::string with_scheme(const std::string& endpoint, const std::string& usual_scheme);

/// The kind of an address with a scheme. Throws ConfigError where it is of none; `what` is what
/// cannot be done with it then.
[[nodiscard]] const TransportKind& kind_of(std::span<const TransportKind> kinds,
                                           std::string_view what, const std::string& endpoint);

/// A transport of several kinds: each address goes to the kind that its scheme names, whichever it
/// is that listens. `kinds` lives for ever. Throws ConfigError as make_transport().
[[nodiscard]] std::unique_ptr<Transport> make_transport_by_scheme(
    std::span<const TransportKind> kinds, const TransportOptions& options);

}  // namespace stencil
