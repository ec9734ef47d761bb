#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "stencil/core/keys.h"
#include "stencil/core/peer_address.h"
#include "stencil/transport/factory.h"

namespace stencil {

// What transports that prove keys have in common.

/// Throws ConfigError for an address that has no key where keys are in use, or has one where none
/// are. For dial().
void check_key(const PeerAddress& address, bool keys_in_use);

/// The key to ask for in an attempt to dial whoever has `key`: while its rank has several keys,
/// they take turns, that one first.
[[nodiscard]] PublicKey key_to_ask_for(const KeyRing& keys, const PublicKey& key,
                                       std::size_t attempt);

/// Why there is no connection, with somebody who dialled us or whom we dialled.
enum class Stranger : std::uint8_t {
  kNoKey,       ///< it proves none
  kUnknownKey,  ///< it has proven one that is nobody's
  kWrongDial,   ///< it dialled for another key than ours
  kRefusesUs,   ///< we dialled it, and it does not know our key
  kWantsKey,    ///< it dialled for a key, and we have none
};
/// Calls options.complain, where that is given. `key`: the unknown one; of kNoKey and kWantsKey
/// none; else ours. For receive().
void complain(const TransportOptions& options, Stranger why, const PublicKey& key);
/// The same of what is not about keys.
void complain(const TransportOptions& options, const std::string& cause, std::string_view text);

}  // namespace stencil
