#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stencil/core/types.h"

namespace stencil {

/// Bytes of a key of either kind (Curve25519), and characters of its text form (Z85, ZeroMQ RFC
/// 32).
inline constexpr std::size_t kKeyBytes = 32;
inline constexpr std::size_t kKeyCharacters = 40;

/// Names the holder of the secret key that belongs to it. Value type.
struct PublicKey {
  std::array<std::uint8_t, kKeyBytes> bytes{};

  friend auto operator<=>(const PublicKey&, const PublicKey&) = default;
};

/// Whoever has it can speak for its rank. Movable; its memory is wiped when it is moved from and
/// when it is destroyed. There is no way to print it but secret_text(), for the key file.
class SecretKey {
 public:
  SecretKey() = default;
  explicit SecretKey(std::span<const std::uint8_t, kKeyBytes> bytes);
  ~SecretKey();
  SecretKey(SecretKey&& other) noexcept;
  SecretKey& operator=(SecretKey&& other) noexcept;

  std::array<std::uint8_t, kKeyBytes> bytes{};
};

/// Overwrites memory that held a secret, in a way that no compiler leaves out.
void wipe(std::span<std::uint8_t> bytes);
void wipe(std::string& text);

/// The 40 characters of a public key.
[[nodiscard]] std::string text(const PublicKey& key);
/// Nothing where `text` is not exactly 40 characters of Z85.
[[nodiscard]] std::optional<PublicKey> parse_public_key(std::string_view text);
/// For key files alone: wipe() the text once it is written.
[[nodiscard]] std::string secret_text(const SecretKey& key);
[[nodiscard]] std::optional<SecretKey> parse_secret_key(std::string_view text);

/// The keys that a worker goes by: its own pair and everybody's public keys. Not changed once it is
/// shared; see KeySource.
struct KeyRing {
  PublicKey own_public;
  SecretKey own_secret;
  /// The public keys of rank K at [K]: one, or several while its key is being replaced.
  std::vector<std::vector<PublicKey>> by_rank;

  /// Whose key it is; nothing for a stranger's. Looks at all of them.
  [[nodiscard]] std::optional<Rank> rank_of(const PublicKey& key) const;
  /// Those of `rank`; none where it has none, or is no rank.
  [[nodiscard]] std::span<const PublicKey> of(Rank rank) const;
};

/// The keys to go by now, never null. Asked often, such as at each receive(), so that keys can be
/// replaced while a worker runs. Must not block: files are read elsewhere. An empty KeySource means
/// that no keys are in use.
using KeySource = std::function<std::shared_ptr<const KeyRing>()>;

}  // namespace stencil
