#include "tests/support/key_rings.h"

#include <sodium.h>

namespace stencil::test {

KeyPair::KeyPair(std::uint8_t number) {
  std::array<std::uint8_t, crypto_box_SEEDBYTES> seed{};
  seed[0] = number;
  crypto_box_seed_keypair(open.bytes.data(), secret.data(), seed.data());
}

std::shared_ptr<const KeyRing> ring(std::uint8_t own,
                                    const std::vector<std::vector<std::uint8_t>>& by_rank) {
  const KeyPair pair(own);
  auto out = std::make_shared<KeyRing>();
  out->own_public = pair.open;
  out->own_secret = SecretKey(pair.secret);
  for (const auto& numbers : by_rank) {
    auto& keys = out->by_rank.emplace_back();
    for (const std::uint8_t number : numbers) keys.push_back(KeyPair(number).open);
  }
  return out;
}

}  // namespace stencil::test
