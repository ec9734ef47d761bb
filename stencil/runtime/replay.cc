#include "stencil/runtime/replay.h"

#include <xxhash.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "stencil/engine/engine.h"
#include "stencil/runtime/journal.h"
#include "stencil/runtime/journal_fields.h"

namespace stencil {
namespace {

// What no recording has, and what would make an engine overflow or take for ever.
constexpr std::uint32_t kMostBuckets = 1U << 20;
constexpr std::size_t kMostTurns = 1U << 16;
constexpr std::uint64_t kMostSteps = 1U << 20;  ///< between two boundaries
constexpr Duration kLongest = std::chrono::hours(24 * 3650);

Error no_journal(const std::string& why) {
  return {Fault::kMalformed, "no journal of a worker: " + why};
}

bool may_be(Duration time) {
  return time >= -kLongest && time <= kLongest;
}

bool may_be(const Place& place) {
  return place.rank >= 0 && (place.turn < kMostTurns || place.turn == Place::kNoTurn);
}

bool may_be(const GridFigures& grid) {
  return grid.turns <= kMostTurns && grid.sweeps_per_mille <= 1'000'000;
}

bool may_be(const EngineConfig& config) {
  const bool places =
      std::ranges::all_of(config.neighbours, [](const Place& place) { return may_be(place); });
  const Duration times[] = {config.tell_every, config.heartbeat_every, config.suspect_after,
                            config.gone_after, config.hello_every,     config.reply_deadline};
  return places && config.rank >= 0 && config.buckets > 0 && config.buckets <= kMostBuckets &&
         config.carried <= kMostBuckets && may_be(config.grid) &&
         std::ranges::all_of(times, [](Duration time) {
           return time >= Duration{} && time <= std::chrono::hours(24 * 365);
         });
}

/// Gives an engine an input of a journal. False where no engine can have had it.
struct Give {
  Engine& engine;
  TimePoint now;
  Actions& out;

  bool operator()(const input::Added& in) const {
    if (!may_be(in.place)) return false;
    engine.add(now, in.place);
    return true;
  }
  bool operator()(const input::Retired& in) const { return engine.retire(now, in.rank, out), true; }
  bool operator()(const input::Parted& in) const {
    return engine.say_good_bye(now, in.rank, out), true;
  }
  bool operator()(const input::Removed& in) const { return engine.remove(now, in.rank, out), true; }
  bool operator()(const input::LinkUp& in) const {
    return engine.on_link_up(now, in.rank, out), true;
  }
  bool operator()(const input::LinkDown& in) const {
    return engine.on_link_down(now, in.rank, out), true;
  }
  bool operator()(const input::Heard& in) const {
    return engine.on_message(now, in.rank, in.message, out), true;
  }
  bool operator()(const input::Made& in) const { return engine.on_made(now, in.from, out), true; }
  bool operator()(const input::Boundary& in) const {
    if (in.step > engine.step() + kMostSteps) return false;
    return engine.on_boundary(now, in.step, out), true;
  }
  bool operator()(const input::Paused& in) const {
    return engine.on_pause(now, in.pause, out), true;
  }
  bool operator()(const input::Published& in) const {
    return engine.on_published(now, in.round, out), true;
  }
  bool operator()(const input::Wanted& in) const {
    return engine.on_state(now, in.state, out), true;
  }
  bool operator()(const input::Progress& in) const {
    return std::isfinite(in.steps) && (engine.on_progress(in.steps), true);
  }
  bool operator()(const input::GaveUpJoining&) const {
    return engine.give_up_joining(now, out), true;
  }
  bool operator()(const input::Tick&) const { return engine.on_tick(now, out), true; }
  bool operator()(const input::Sharing& in) const {
    return engine.on_sharing(now, in.rank, in.shared, out), true;
  }
  bool operator()(const input::TookShares&) const { return engine.take_shares(now, out), true; }
  bool operator()(const input::Shared& in) const {
    if (in.bucket >= engine.config().buckets) return false;
    return engine.on_share(now, in.rank, in.bucket, in.result, out), true;
  }
  bool operator()(const input::OfferMade& in) const {
    return engine.on_offer_made(in.rank, in.sequence, in.made, out), true;
  }
  bool operator()(const input::Answered& in) const {
    return engine.on_answered(in.rank, in.reply, out), true;
  }
  bool operator()(const input::Stamped& in) const {
    MessageHeader header;
    return engine.stamp(header, in.rank), true;
  }
  bool operator()(const input::StartHashed& in) const {
    return engine.on_start_hashed(in.rank, in.hash, out), true;
  }
  bool operator()(const input::GridChanged& in) const {
    return may_be(in.grid) && (engine.on_grid(now, in.grid, out), true);
  }
  bool operator()(const input::FirstBatch& in) const {
    return engine.on_first_batch(now, in.hash, out), true;
  }
};

Result<Replay> play_all(journal::Reader in, const EngineConfig& config, TimePoint made,
                        std::span<const std::byte> state,
                        const std::function<void(const Replayed&)>& told) {
  Replay all{.rank = config.rank};
  Neighbours neighbours(config.grid.turns);
  Engine engine(config, neighbours, made);
  journal::Reader resumed(state, &neighbours);
  journal::walk(resumed, engine);
  if (resumed.bad() || resumed.left() > 0) return no_journal("its worker's state cannot be");
  Actions decided;
  Bytes memory;
  while (in.left() > 0) {
    std::uint32_t size = 0;
    in.number(size);
    journal::Reader record(in.take(size));
    all.cut = in.bad();
    if (all.cut) break;
    TimePoint now{};
    Input input;
    std::uint64_t hash = 0;
    journal::all(record, now, input, hash);
    ++all.inputs;
    bool can_be = !record.bad() && record.left() == 0 && may_be(now.time_since_epoch());
    try {
      can_be = can_be && std::visit(Give{engine, now, decided}, input);
    } catch (const InvariantError& error) {
      all.failure = error.what();
    }
    if (!can_be) return no_journal("its record " + std::to_string(all.inputs) + " cannot be");
    const bool same = journal::hash_of(decided, memory) == hash;
    if (!same) all.other = all.inputs;
    told({all.inputs, now - made, input, decided, same});
    if (!same || !all.failure.empty()) break;
    decided.clear();
  }
  return all;
}

}  // namespace

Result<Replay> replay(std::span<const std::byte> journal,
                      const std::function<void(const Replayed&)>& told) {
  journal::Reader in(journal);
  const std::span<const std::byte> magic = in.take(journal::kMagic.size());
  const auto* const text = reinterpret_cast<const char*>(magic.data());
  if (std::string_view(text, magic.size()) != journal::kMagic) {
    return no_journal("it does not begin with " + std::string(journal::kMagic));
  }
  EngineConfig config;
  TimePoint made{};
  journal::all(in, config, made);
  std::uint32_t size = 0;
  in.number(size);
  const std::span<const std::byte> state = in.take(size);
  const std::size_t beginning = journal.size() - in.left();
  std::uint64_t mark = 0;
  in.number(mark);
  if (in.bad() || !may_be(config) || !may_be(made.time_since_epoch())) {
    return no_journal("its worker's configuration cannot be");
  }
  if (journal::mark_of(journal.first(beginning)) != mark) {
    return no_journal("its worker's configuration or state is damaged");
  }
  try {
    return play_all(in, config, made, state, told);
  } catch (const InvariantError& error) {
    return no_journal(error.what());
  }
}

}  // namespace stencil
