// What newcomers take over beside the model, in chunks.
#include "stencil/runtime/carried.h"

#include <gmock/gmock.h>

namespace stencil {
namespace {

std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> out;
  for (const int value : values) out.push_back(static_cast<std::byte>(value));
  return out;
}

std::vector<std::byte> all(Carried& carried) {
  const auto taken = carried.taken();
  return taken ? std::vector(taken->begin(), taken->end()) : std::vector<std::byte>();
}

TEST(Carried, is_cut_into_chunks_of_which_the_last_may_be_short) {
  EXPECT_EQ(Carried().chunks(), 0U);
  const Carried carried(bytes({1, 2, 3, 4, 5}), 2);
  ASSERT_EQ(carried.chunks(), 3U);
  EXPECT_EQ(carried.size(2), 1U);
  std::vector<std::byte> chunk(2);
  carried.copy(1, chunk);
  EXPECT_EQ(chunk, bytes({3, 4}));
}

TEST(Carried, is_taken_chunk_by_chunk_and_told_once) {
  Carried carried(bytes({1, 2, 3}), 2);
  EXPECT_FALSE(carried.taken());
  carried.take(0, bytes({7, 8}));
  carried.take(1, bytes({9}));
  EXPECT_EQ(all(carried), bytes({7, 8, 9}));
  EXPECT_FALSE(carried.taken());
}

TEST(Carried, is_what_it_was_where_a_copy_breaks_off) {
  Carried carried(bytes({1, 2, 3}), 2);
  carried.take(0, bytes({7, 8}));
  for (std::uint32_t chunk = 0; chunk < carried.chunks(); ++chunk) carried.discard(chunk);
  EXPECT_EQ(all(carried), bytes({1, 2, 3}));
  carried.discard(0);  // nothing is being copied
  EXPECT_FALSE(carried.taken());
}

}  // namespace
}  // namespace stencil
