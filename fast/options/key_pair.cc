#include "fast/options/key_pair.h"

#include <sodium.h>

#include <stdexcept>

namespace fast {

static_assert(crypto_box_PUBLICKEYBYTES == stencil::kKeyBytes &&
              crypto_box_SECRETKEYBYTES == stencil::kKeyBytes);

KeyPair make_key_pair() {
  KeyPair pair;
  if (sodium_init() < 0 ||
      crypto_box_keypair(pair.open.bytes.data(), pair.secret.bytes.data()) != 0) {
    throw std::runtime_error("libsodium finds no source of randomness here");
  }
  return pair;
}

stencil::PublicKey public_key_of(const stencil::SecretKey& secret) {
  stencil::PublicKey open;
  // The curve's base point times the secret number. libsodium makes a valid number of any bytes.
  (void)crypto_scalarmult_base(open.bytes.data(), secret.bytes.data());
  return open;
}

}  // namespace fast
