#pragma once

#include "stencil/core/keys.h"

namespace fast {

/// A secret key and its public key.
struct KeyPair {
  stencil::PublicKey open;
  stencil::SecretKey secret;
};

/// A new pair, drawn by libsodium from the system's source of randomness. Throws
/// std::runtime_error where there is none.
[[nodiscard]] KeyPair make_key_pair();

[[nodiscard]] stencil::PublicKey public_key_of(const stencil::SecretKey& secret);

}  // namespace fast
