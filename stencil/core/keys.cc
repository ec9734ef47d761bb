#include "stencil/core/keys.h"

#include <string.h>  // explicit_bzero

#include <algorithm>
#include <iterator>
#include <utility>

namespace stencil {
namespace {

using KeyArray = std::array<std::uint8_t, kKeyBytes>;

// Z85: each 4 bytes, taken as a big-endian number, are 5 digits of base 85.
constexpr std::string_view kDigits =
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";
constexpr std::uint32_t kBase = 85;
static_assert(kDigits.size() == kBase && kKeyCharacters == kKeyBytes / 4 * 5);

std::string to_z85(const KeyArray& bytes) {
  std::string out(kKeyCharacters, '0');
  auto digits = out.begin();
  for (std::size_t i = 0; i < bytes.size(); i += 4) {
    std::uint32_t word = 0;
    for (std::size_t j = 0; j < 4; ++j) word = word << 8 | bytes[i + j];
    for (std::ptrdiff_t place = 4; place >= 0; --place, word /= kBase) {
      digits[place] = kDigits[word % kBase];
    }
    digits += 5;
  }
  return out;
}

bool from_z85(std::string_view text, KeyArray& out) {
  if (text.size() != kKeyCharacters) return false;
  auto byte = out.begin();
  for (; !text.empty(); text.remove_prefix(5)) {
    std::uint64_t word = 0;
    for (const char c : text.substr(0, 5)) {
      const std::size_t digit = kDigits.find(c);
      if (digit == std::string_view::npos) return false;
      word = word * kBase + digit;
    }
    if (word > 0xffffffffU) return false;
    for (int shift = 24; shift >= 0; shift -= 8) {
      *byte++ = static_cast<std::uint8_t>(word >> shift & 0xffU);
    }
  }
  return true;
}

}  // namespace

void wipe(std::span<std::uint8_t> bytes) {
  ::explicit_bzero(bytes.data(), bytes.size());
}

void wipe(std::string& text) {
  ::explicit_bzero(text.data(), text.size());
  text.clear();
}

SecretKey::SecretKey(std::span<const std::uint8_t, kKeyBytes> from) {
  std::ranges::copy(from, bytes.begin());
}

SecretKey::~SecretKey() {
  wipe(bytes);
}

SecretKey::SecretKey(SecretKey&& other) noexcept : bytes(other.bytes) {
  wipe(other.bytes);
}

SecretKey& SecretKey::operator=(SecretKey&& other) noexcept {
  if (this == &other) return *this;
  bytes = other.bytes;
  wipe(other.bytes);
  return *this;
}

std::string text(const PublicKey& key) {
  return to_z85(key.bytes);
}

std::optional<PublicKey> parse_public_key(std::string_view text) {
  PublicKey key;
  if (!from_z85(text, key.bytes)) return std::nullopt;
  return key;
}

std::string secret_text(const SecretKey& key) {
  return to_z85(key.bytes);
}

std::optional<SecretKey> parse_secret_key(std::string_view text) {
  SecretKey key;
  if (!from_z85(text, key.bytes)) return std::nullopt;
  return key;
}

std::optional<Rank> KeyRing::rank_of(const PublicKey& key) const {
  const auto holder = std::ranges::find_if(by_rank, [&key](const std::vector<PublicKey>& keys) {
    return std::ranges::find(keys, key) != keys.end();
  });
  if (holder == by_rank.end()) return std::nullopt;
  return static_cast<Rank>(std::distance(by_rank.begin(), holder));
}

std::span<const PublicKey> KeyRing::of(Rank rank) const {
  if (rank < 0 || static_cast<std::size_t>(rank) >= by_rank.size()) return {};
  return by_rank[static_cast<std::size_t>(rank)];
}

}  // namespace stencil
