#include "stencil/engine/start_copy.h"

#include <utility>

namespace stencil {
namespace {

/// How often weights of another hash than was told are asked for.
constexpr int kMostUntrue = 3;

}  // namespace

void StartCopy::begin(const Origin& origin, std::uint32_t pieces) {
  origin_ = origin;
  pieces_.assign(pieces, {});
  hashed_ = 0;
}

void StartCopy::keep(std::uint32_t piece, const Payload& payload) {
  if (piece == self_.telemetry() || piece >= pieces_.size()) return;
  const std::span<const std::byte> bytes = view(payload);
  pieces_[piece] = Payload(Bytes(bytes.begin(), bytes.end()));
}

void StartCopy::hash(Rank from, bool all, Actions& out) {
  for (; hashed_ < pieces_.size(); ++hashed_) {
    const bool come = all || pieces_[hashed_] || hashed_ == self_.telemetry();
    const bool last = hashed_ + 1 == pieces_.size();
    if (!come || (last && !all)) return;
    out.push_back(action::HashStart{from, hashed_, pieces_[hashed_], last});
  }
}

void StartCopy::hand_over(Rank from, Actions& out) {
  for (std::uint32_t piece = 0; piece < pieces_.size(); ++piece) {
    if (piece == self_.telemetry()) continue;
    out.push_back(
        action::Adopt{from, Snapshot{.bucket = piece, .payload = std::move(pieces_[piece])}, true});
  }
  drop();
}

std::size_t StartCopy::held() const {
  std::size_t bytes = 0;
  for (const Payload& piece : pieces_) bytes += view(piece).size();
  return bytes;
}

void StartCopy::note_untrue(const Neighbour& neighbour, Actions& out) {
  drop();
  Untrue& untrue = untrue_[neighbour.rank];
  if (untrue.life != neighbour.life.id || untrue.told != origin_) {
    untrue = {neighbour.life.id, origin_};
  }
  if (neighbour.report.state != WorkerState::kJoining) {
    untrue.times = kMostUntrue;
    return;
  }
  ++untrue.times;
  ++self_.counters.start_refused;
  out.push_back(action::Warn{neighbour.rank,
                             "the initial weights that it sent are not those that it tells of, by "
                             "their hash, and were not taken over",
                             "start"});
}

bool StartCopy::may_come_from(const Neighbour& neighbour) const {
  const auto found = untrue_.find(neighbour.rank);
  if (found == untrue_.end() || found->second.life != neighbour.life.id) return true;
  return found->second.told != neighbour.life.initial || found->second.times < kMostUntrue;
}

}  // namespace stencil
