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

/// Identifies the holder of the matching secret key. Value type.
struct PublicKey {
  std::array<std::uint8_t, kKeyBytes> bytes{};

  friend auto operator<=>(const PublicKey&, const PublicKey&) = default;
};

/// Proves its holder's rank: keep it secret. Movable. Its memory is wiped when it is moved from and
/// when it is destroyed. Only secret_text() prints it, for the key file.
class SecretKey {
 public:
  SecretKey() = default;
  explicit SecretKey(std::span<const std::uint8_t, kKeyBytes> bytes);
  ~SecretKey();
  SecretKey(SecretKey&& other) noexcept;
  SecretKey& operator=(SecretKey&& other) noexcept;

  std::array<std::uint8_t, kKeyBytes> bytes{};
};

/// Overwrites memory that held a secret. The compiler cannot optimise this away.
void wipe(std::span<std::uint8_t> bytes);
void wipe(std::string& text);

/// The 40 characters of a public key.
[[nodiscard]] std::string text(const PublicKey& key);
/// Nothing where `text` is not exactly 40 characters of Z85.
[[nodiscard]] std::optional<PublicKey> parse_public_key(std::string_view text);
/// For key files alone: wipe() the text once it is written.
[[nodiscard]] std::string secret_text(const SecretKey& key);
[[nodiscard]] std::optional<SecretKey> parse_secret_key(std::string_view text);

/// The keys of one worker: its own pair and every rank's public keys. Immutable once it is shared;
/// see KeySource.
struct KeyRing {
  PublicKey own_public;
  SecretKey own_secret;
  /// The public keys of rank K at [K]: one, or several while its key is being replaced.
  std::vector<std::vector<PublicKey>> by_rank;

  /// The rank that `key` belongs to; nothing for an unknown key. Searches all ranks.
  [[nodiscard]] std::optional<Rank> rank_of(const PublicKey& key) const;
  /// The keys of `rank`; empty where it has none or is out of range.
  [[nodiscard]] std::span<const PublicKey> of(Rank rank) const;
};

/// Returns the keys in force now, never null. It is called often, for example at each receive(), so
/// that keys can be replaced while a worker runs. It must not block; files are read elsewhere. An
/// empty KeySource means that no keys are in use.
using KeySource = std::function<std::shared_ptr<const KeyRing>()>;

}  // namespace stencil
