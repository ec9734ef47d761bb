#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fast/errors.h"
#include "fast/options/key_files.h"

namespace {

/// A file with one key for each rank can be written, and reads back unchanged.
void check_written(const std::vector<std::vector<stencil::PublicKey>>& keys) {
  std::vector<stencil::PublicKey> first;
  for (const auto& of_rank : keys) {
    if (of_rank.size() != 1) return;
    first.push_back(of_rank[0]);
  }
  if (fast::parse_public_keys(fast::public_keys_text(first), "again") != keys) __builtin_trap();
}

}  // namespace

/// A file of public keys or a key file is read or refused, whatever it holds; what was read
/// survives writing.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    check_written(fast::parse_public_keys(text, "public.keys"));
  } catch (const fast::ConfigError&) {
  }
  try {
    fast::KeyPair pair;
    pair.secret = fast::parse_key_file(text, "rank-0.key");
    pair.open = fast::public_key_of(pair.secret);
    const auto again = fast::parse_key_file(fast::key_file_text(pair, 0), "again");
    if (again.bytes != pair.secret.bytes) __builtin_trap();
  } catch (const fast::ConfigError&) {
  }
  return 0;
}
