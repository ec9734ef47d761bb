#include "stencil/core/keys.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "stencil/core/peer_address.h"

namespace stencil {
namespace {

/// The pair of ZeroMQ RFC 26's example in libzmq's tests (test_security_curve).
constexpr std::string_view kPublic = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID";
constexpr std::string_view kSecret = "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs";

std::string with(std::string_view text, std::size_t at, char c) {
  std::string out(text);
  out[at] = c;
  return out;
}

TEST(Keys, the_text_of_rfc_32_is_the_same_both_ways) {
  // Its test vector is 8 bytes, "HelloWorld"; four times that is a key.
  std::string text_of_four;
  PublicKey key;
  constexpr std::array<std::uint8_t, 8> kBytes = {0x86, 0x4F, 0xD2, 0x6F, 0xB5, 0x59, 0xF7, 0x5B};
  for (std::size_t i = 0; i < 4; ++i) {
    text_of_four += "HelloWorld";
    std::ranges::copy(kBytes, key.bytes.begin() + static_cast<std::ptrdiff_t>(8 * i));
  }
  EXPECT_EQ(text(key), text_of_four);
  EXPECT_EQ(parse_public_key(text_of_four), key);
}

TEST(Keys, every_byte_comes_back_from_its_text) {
  for (int value = 0; value < 256; ++value) {
    PublicKey key;
    key.bytes.fill(static_cast<std::uint8_t>(value));
    key.bytes[static_cast<std::size_t>(value) % kKeyBytes] ^= 0x5a;
    EXPECT_EQ(parse_public_key(text(key)), key) << value;
  }
}

TEST(Keys, what_is_not_forty_characters_of_z85_is_no_key) {
  ASSERT_TRUE(parse_public_key(kPublic));
  EXPECT_FALSE(parse_public_key(""));
  EXPECT_FALSE(parse_public_key(kPublic.substr(1)));
  EXPECT_FALSE(parse_public_key(std::string(kPublic) + "0"));
  for (const char bad : {' ', '"', '\'', ',', ';', '\\', '_', '`', '|', '~', '\0', '\x80'}) {
    EXPECT_FALSE(parse_public_key(with(kPublic, 7, bad))) << static_cast<int>(bad);
  }
  // Five digits can be more than four bytes hold: "%nSc0" is 2^32 - 1.
  const std::string most = "%nSc0" + std::string(35, '0');
  EXPECT_TRUE(parse_public_key(most));
  EXPECT_FALSE(parse_public_key(with(most, 4, '1')));
  EXPECT_FALSE(parse_public_key(std::string(40, '#')));
}

TEST(Keys, a_secret_key_comes_back_from_its_text) {
  const auto key = parse_secret_key(kSecret);
  ASSERT_TRUE(key);
  EXPECT_EQ(secret_text(*key), kSecret);
}

TEST(Keys, a_secret_key_leaves_nothing_in_memory) {
  static_assert(!std::is_copy_constructible_v<SecretKey>);
  static_assert(!std::is_copy_assignable_v<SecretKey>);
  const auto is_zero = [](std::uint8_t byte) { return byte == 0; };

  auto from = *parse_secret_key(kSecret);
  SecretKey to = std::move(from);
  EXPECT_TRUE(std::ranges::all_of(from.bytes, is_zero));
  EXPECT_EQ(secret_text(to), kSecret);
  from = std::move(to);
  EXPECT_TRUE(std::ranges::all_of(to.bytes, is_zero));

  alignas(SecretKey) std::array<std::uint8_t, sizeof(SecretKey)> memory{};
  auto* const key = new (memory.data()) SecretKey(std::move(from));
  EXPECT_FALSE(std::ranges::all_of(memory, is_zero));
  key->~SecretKey();
  EXPECT_TRUE(std::ranges::all_of(memory, is_zero));

  std::string text = std::string(kSecret);
  wipe(text);
  EXPECT_EQ(text, "");
}

TEST(Keys, a_ring_knows_whose_key_it_is_while_keys_are_replaced_too) {
  const auto key = [](std::uint8_t first) {
    PublicKey out;
    out.bytes[0] = first;
    return out;
  };
  KeyRing ring;
  ring.by_rank = {{key(1)}, {key(2), key(3)}, {}};
  EXPECT_EQ(ring.rank_of(key(1)), 0);
  EXPECT_EQ(ring.rank_of(key(2)), 1);
  EXPECT_EQ(ring.rank_of(key(3)), 1);
  EXPECT_EQ(ring.rank_of(key(4)), std::nullopt);
  EXPECT_EQ(ring.of(1).size(), 2U);
  EXPECT_TRUE(ring.of(2).empty());
  EXPECT_TRUE(ring.of(3).empty());
  EXPECT_TRUE(ring.of(-1).empty());
}

TEST(Keys, an_address_is_a_text_and_perhaps_a_key) {
  const PeerAddress bare = "tcp://worker-1:5555";
  EXPECT_EQ(bare, PeerAddress(std::string("tcp://worker-1:5555")));
  EXPECT_FALSE(bare.key);
  EXPECT_NE(bare, PeerAddress("tcp://worker-1:5555", parse_public_key(kPublic)));
}

}  // namespace
}  // namespace stencil
