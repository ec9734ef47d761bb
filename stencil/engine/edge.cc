#include "stencil/engine/edge.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "stencil/mix/codecs/kinds.h"

namespace stencil {
namespace {

std::string hex(std::uint64_t value) {
  std::array<char, 17> text{};
  std::to_chars(text.data(), text.data() + text.size(), value, 16);
  return text.data();
}

std::string differ(std::string_view what, const std::string& ours, const std::string& theirs,
                   std::string_view remedy) {
  return std::string(what) + " differs: ours " + ours + ", theirs " + theirs + "; " +
         std::string(remedy);
}

}  // namespace

OpenOffer* Edge::find_open(std::uint64_t sequence) {
  const auto it = std::ranges::find(open, sequence, &OpenOffer::sequence);
  return it == open.end() ? nullptr : &*it;
}

OpenOffer* Edge::find_crossing(std::uint32_t bucket) {
  const auto it = std::ranges::find(open, bucket, &OpenOffer::bucket);
  return it == open.end() ? nullptr : &*it;
}

void Edge::erase_open(std::uint64_t sequence) {
  std::erase_if(open, [&](const OpenOffer& offer) { return offer.sequence == sequence; });
}

std::optional<std::string> mismatch(const Hello& ours, const Hello& theirs, bool adopt_initial) {
  if (ours.protocol != theirs.protocol) {
    return differ("protocol version", std::to_string(ours.protocol),
                  std::to_string(theirs.protocol), "run the same version of FAST everywhere");
  }
  if (ours.run_id != theirs.run_id) {
    return differ("run id", "'" + ours.run_id + "'", "'" + theirs.run_id + "'",
                  "give both the same run_id, or check the peer's address");
  }
  if (ours.topology != theirs.topology) {
    return differ("topology", ours.topology, theirs.topology, "give both the same topology");
  }
  if (ours.layout_hash != theirs.layout_hash) {
    return differ("model layout", hex(ours.layout_hash), hex(theirs.layout_hash),
                  "train the same model with the same bucket size on both");
  }
  if (ours.mode != theirs.mode) {
    return differ("mode", ours.mode, theirs.mode, "give both the same mode");
  }
  if (ours.codec != theirs.codec) {
    return differ("codec", name(ours.codec), name(theirs.codec), "give both the same codec");
  }
  if (ours.initial_hash != theirs.initial_hash && !adopt_initial) {
    return differ("initial weights' hash", hex(ours.initial_hash), hex(theirs.initial_hash),
                  "use the same seed on both, or init_from_neighbour on the one that joins");
  }
  return std::nullopt;
}

}  // namespace stencil
