#include "stencil/engine/handshake.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "stencil/core/random.h"
#include "stencil/core/text.h"
#include "stencil/mix/codecs/kinds.h"

namespace stencil {
namespace {

constexpr char kUntold[] = "is not told";

struct Difference {
  std::string_view what;
  std::string ours, theirs;
  std::string remedy;
};

/// The first difference in the fields of Hello.
std::optional<Difference> other_run(const Hello& ours, const Hello& theirs) {
  if (ours.protocol != theirs.protocol) {
    return Difference{"protocol version", std::to_string(ours.protocol),
                      std::to_string(theirs.protocol), "run the same version of FAST everywhere"};
  }
  if (ours.run_id != theirs.run_id) {
    return Difference{"run id", "'" + ours.run_id + "'", "'" + theirs.run_id + "'",
                      "give both the same run_id, or check the peer's address"};
  }
  if (ours.topology != theirs.topology) {
    return Difference{"topology", ours.topology, theirs.topology, "give both the same topology"};
  }
  if (ours.mode != theirs.mode) {
    return Difference{"mode", ours.mode, theirs.mode, "give both the same mode"};
  }
  if (ours.codec != theirs.codec) {
    return Difference{"codec", name(ours.codec), name(theirs.codec), "give both the same codec"};
  }
  return std::nullopt;
}

/// A difference in the layout. Terms come before it, since they may name the models.
std::optional<Difference> other_layout(const Hello& ours, const Hello& theirs) {
  if (ours.layout_hash == theirs.layout_hash) return std::nullopt;
  return Difference{"model layout", hex(ours.layout_hash), hex(theirs.layout_hash),
                    "train the same model with the same bucket size on both"};
}

/// A difference in the initial weights. It matters only between two workers that have hardly
/// trained.
std::optional<Difference> other_start(const Hello& ours, const Hello& theirs, OptionNaming naming) {
  const bool both_new = ours.progress == 0 && theirs.progress == 0;
  if (ours.initial_hash == theirs.initial_hash || !both_new) return std::nullopt;
  return Difference{"initial weights' hash", hex(ours.initial_hash), hex(theirs.initial_hash),
                    "give both the same initial weights, by the same seed, or " +
                        naming("initial") + " lowest to both"};
}

std::string text(const Difference& found) {
  return std::string(found.what) + " differs: ours " + found.ours + ", theirs " + found.theirs +
         "; " + found.remedy;
}

}  // namespace

std::optional<std::string> mismatch(const EngineConfig& ours, const Hello& theirs) {
  if (const auto found = other_run(ours.hello, theirs)) return text(*found);
  if (const std::string term = differing(ours.hello.terms, theirs.terms); !term.empty()) {
    return term + " differs; give both the same";
  }
  if (const auto found = other_layout(ours.hello, theirs)) return text(*found);
  if (ours.lowest_initial) return std::nullopt;
  const auto found = other_start(ours.hello, theirs, ours.naming);
  return found ? std::optional(text(*found)) : std::nullopt;
}

Refusal refusal(const EngineConfig& ours, const Hello& theirs) {
  const bool told = ours.proven && ours.hello.run_id == theirs.run_id;
  const auto in_text = [told](Difference found) {
    if (!told) found.theirs = kUntold;
    return text(found);
  };
  const std::string marks = told ? ours.arrays.marks() : std::string();
  if (const auto found = other_run(theirs, ours.hello)) {
    // Everybody learns the version: each of our headers carries it.
    return {.text = ours.hello.protocol == theirs.protocol ? in_text(*found) : text(*found)};
  }
  if (const std::string term = differing(ours.hello.terms, theirs.terms); !term.empty()) {
    return {.text = told ? value_of(ours.terms, term) : "", .term = term, .marks = marks};
  }
  if (const auto found = other_layout(theirs, ours.hello)) {
    return {.text = in_text(*found), .marks = marks};
  }
  const auto found = other_start(theirs, ours.hello, ours.naming);
  return {.text = found ? in_text(*found) : std::string()};
}

Refusal answer_to(const EngineConfig& ours, const Refusal& theirs) {
  return {.text = ours.proven ? value_of(ours.terms, theirs.term) : "",
          .term = theirs.term,
          .answer = true};
}

std::string in_words(const EngineConfig& ours, const Refusal& theirs) {
  const std::string array = theirs.marks.empty() ? "" : ours.arrays.first_difference(theirs.marks);
  const std::string more = array.empty() ? "" : "; " + array;
  if (theirs.term.empty()) return theirs.text + more;
  const auto said = [](const std::string& value) { return value.empty() ? "not given" : value; };
  const bool told = ours.proven || !theirs.text.empty();
  return text(Difference{theirs.term, said(value_of(ours.terms, theirs.term)),
                         told ? said(theirs.text) : kUntold, "give both the same"}) +
         more;
}

std::optional<Refusal> Handshake::taken(TimePoint now, const Neighbour& neighbour,
                                        const Hello& hello) const {
  const Life& life = neighbour.life;
  const bool heard = neighbour.up() && now - neighbour.times.heard < self_.config.suspect_after;
  if (!heard || hello.life == life.id) return std::nullopt;
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(now - life.greeted_at).count();
  return Refusal{.text = "rank " + std::to_string(neighbour.rank) + " is already here" +
                         (life.host.empty() ? "" : ", from " + life.host) + ", since " +
                         std::to_string(seconds) + " s; give each worker a rank of its own",
                 .taken = true};
}

void Handshake::add(TimePoint now, Neighbour& neighbour) const {
  constexpr std::uint64_t kMost = 0x3fffffff;
  const std::uint64_t drawn =
      Random::derive(self_.config.hello.generation ^ self_.config.hello.life.low,
                     static_cast<std::uint64_t>(neighbour.rank));
  neighbour.life.our_epoch = static_cast<std::uint32_t>(drawn & kMost);
  begin_epoch(neighbour);
  EdgeTimes& times = neighbour.times;
  times.heard = times.sent = times.hello_sent = times.swept = now;
}

void Handshake::begin_epoch(Neighbour& neighbour) const {
  ++neighbour.life.our_epoch;
  epochs_changed(neighbour);
}

void Handshake::epochs_changed(Neighbour& neighbour) const {
  neighbour.life.told = self_.config.hello.progress;
}

void Handshake::say_hello(TimePoint now, Neighbour& neighbour, Actions& out) {
  Hello hello = self_.config.hello;
  hello.generation += neighbour.life.raised;
  hello.progress = neighbour.life.told;
  hello.last_answered = neighbour.book.answered;
  hello.last_completed = neighbour.book.completed();
  neighbour.times.hello_sent = now;
  neighbour.life.greeted = true;
  self_.send(now, neighbour, std::move(hello), out);
}

void Handshake::synchronise(TimePoint now, Neighbour& neighbour, Actions& out) {
  begin_epoch(neighbour);
  ++self_.counters.resynchronised;
  neighbour.life.acknowledged = false;
  neighbour.life.greeted = false;
  exchange_.drop_held(neighbour);
  say_hello(now, neighbour, out);
}

void Handshake::announce(TimePoint now, Actions& out) {
  for (Neighbour& neighbour : self_.neighbours) {
    const bool greeted = neighbour.has_link && neighbour.life.greeted;
    if (greeted && neighbour.state != LinkState::kLeft) say_hello(now, neighbour, out);
  }
}

void Handshake::start_over(TimePoint now, Neighbour& neighbour, Actions& out) {
  exchange_.reset(neighbour);
  ++neighbour.life.raised;
  neighbour.life.behind = neighbour.life.doubted = false;
  if (neighbour.has_link && neighbour.state != LinkState::kLeft) synchronise(now, neighbour, out);
}

void Handshake::give_up(Neighbour& neighbour) {
  exchange_.reset(neighbour);
  ++neighbour.life.raised;
  neighbour.life.generation = 0;
  begin_epoch(neighbour);
  neighbour.life.acknowledged = false;
}

void Handshake::refuse(TimePoint now, Neighbour& neighbour, const Hello& theirs, std::string why,
                       Actions& out) {
  ++self_.counters.refusals;
  if (!neighbour.up()) neighbour.state = LinkState::kRefused;
  const Refusal said = refusal(self_.config, theirs);
  self_.send(now, neighbour, said, out);
  // Their value of a term is not known yet: it comes with their answer.
  if (said.term.empty()) out.push_back(action::Refused{neighbour.rank, std::move(why)});
}

/// Returns false where the life is an earlier one; then tells its sender so.
bool Handshake::take_life(TimePoint now, Neighbour& neighbour, const Message& message,
                          Actions& out) {
  Life& life = neighbour.life;
  const Hello& hello = *message.as<Hello>();
  if (hello.generation == life.generation && hello.life == life.id) return true;
  if (hello.generation <= life.generation) {
    self_.send(now, neighbour, HelloRequest{.known = life.generation}, out);
    return false;
  }
  if (life.generation != 0) {
    exchange_.reset(neighbour);
    begin_epoch(neighbour);
  }
  if (hello.life != life.id) life.greeted_at = neighbour.report.steps.last = now;
  life.id = hello.life;
  life.host = hello.host;
  life.generation = hello.generation;
  life.fresh = message.header.state == WorkerState::kJoining;
  neighbour.report.grid = 0;
  neighbour.report.grid_differs = kNever;
  life.other_origin = false;
  life.their_epoch = 0;
  life.acknowledged = false;
  return true;
}

/// Returns false where `epoch` is an earlier one.
bool Handshake::take_epoch(Neighbour& neighbour, std::uint32_t epoch) {
  Life& life = neighbour.life;
  if (epoch == life.their_epoch) return true;
  const auto ahead = static_cast<std::int32_t>(epoch - life.their_epoch);
  if (life.their_epoch != 0 && ahead < 0) return false;
  exchange_.drop_held(neighbour);
  life.their_epoch = epoch;
  epochs_changed(neighbour);
  neighbour.report.number = 0;
  life.acknowledged = false;
  life.greeted = false;
  return true;
}

Handshake::Heard Handshake::on_hello(TimePoint now, Neighbour& neighbour, const Message& message,
                                     Actions& out) {
  const Hello& hello = *message.as<Hello>();
  const EngineConfig& config = self_.config;
  if (auto why = mismatch(config, hello)) {
    refuse(now, neighbour, hello, std::move(*why), out);
    return Heard::kNothing;
  }
  if (!take_life(now, neighbour, message, out)) return Heard::kNothing;
  if (!take_epoch(neighbour, message.header.sender_epoch)) return Heard::kNothing;
  Life& life = neighbour.life;
  const bool exact = message.header.receiver_epoch == life.our_epoch;
  if (!exact || !life.greeted) say_hello(now, neighbour, out);
  if (!exact) return Heard::kNothing;
  life.initial = hello.initial();
  if (life.acknowledged) return Heard::kAgain;
  life.acknowledged = true;
  life.taken_since = {};
  life.progress = config.believed(hello.progress);
  life.behind = config.far_behind(life.progress, life.told);
  life.doubted = life.progress != hello.progress;
  if (life.doubted) {
    out.push_back(action::Warn{neighbour.rank,
                               "it tells of " + std::to_string(hello.progress) +
                                   " steps, more than this run can have made: that is not believed",
                               "progress"});
  }
  if (life.ever_heard && neighbour.state != LinkState::kUp) ++self_.counters.returned;
  life.ever_heard = true;
  neighbour.state = LinkState::kUp;
  neighbour.pace.swept_step = std::max(neighbour.pace.swept_step, self_.step());
  exchange_.take_counters(neighbour, hello, out);
  return Heard::kSynchronised;
}

void Handshake::on_hello_request(TimePoint now, Neighbour& neighbour, const HelloRequest& request,
                                 Actions& out) {
  const std::uint64_t greeted = self_.config.hello.generation + neighbour.life.raised;
  if (request.known >= greeted) neighbour.life.raised += request.known - greeted + 1;
  if (neighbour.has_link) say_hello(now, neighbour, out);
}

void Handshake::on_refusal(TimePoint now, Neighbour& neighbour, const Refusal& refusal,
                           Actions& out) {
  ++self_.counters.refusals;
  if (refusal.taken) {
    // The other process may be an earlier life of ours, whose end they have not noticed yet.
    TimePoint& since = neighbour.life.taken_since;
    if (since == TimePoint{}) since = now;
    if (now - since < 2 * self_.config.suspect_after) return;
  }
  if (!neighbour.up()) neighbour.state = LinkState::kRefused;
  if (!refusal.term.empty() && !refusal.answer) {
    self_.send(now, neighbour, answer_to(self_.config, refusal), out);
  }
  out.push_back(action::Refused{neighbour.rank, in_words(self_.config, refusal)});
}

void Handshake::on_leave(Neighbour& neighbour, const MessageHeader& header) {
  // All their answers have come before their Leave.
  if (header.receiver_epoch == neighbour.life.our_epoch) exchange_.withdraw(neighbour, 0);
  end(neighbour);
}

void Handshake::end(Neighbour& neighbour) {
  exchange_.reset(neighbour);
  neighbour.state = LinkState::kLeft;
  neighbour.life.acknowledged = false;
}

void Handshake::leave(TimePoint now, Neighbour& neighbour, Leave how, Actions& out) {
  self_.send(now, neighbour, how, out);
  end(neighbour);
}

bool Handshake::admits(const Neighbour& neighbour, const Message& message) {
  const Life& life = neighbour.life;
  const MessageHeader& header = message.header;
  bool good = header.sender_epoch == life.their_epoch;
  if (message.is<Leave>()) {
    // The sender of a Leave may not know our present epoch, and never will.
    good &= life.their_epoch != 0;
  } else {
    good &= life.acknowledged && header.receiver_epoch == life.our_epoch;
  }
  if (!good) ++self_.counters.stale_frames;
  return good;
}

void Handshake::repeat(TimePoint now, Neighbour& neighbour, Actions& out) {
  if (now < repeat_at(neighbour)) return;
  say_hello(now, neighbour, out);
  // If they believe that the edge is up, our Hello is nothing new to them: ask for theirs
  // explicitly.
  self_.send(now, neighbour, HelloRequest{}, out);
}

/// A neighbour that refused us will do so again, unless it is restarted with the right options at
/// the same address; or it has not made the latest change of the grid yet, and will soon.
TimePoint Handshake::repeat_at(const Neighbour& neighbour) const {
  const EngineConfig& config = self_.config;
  const Duration refused = config.grid.version > 0 ? config.heartbeat_every : config.gone_after;
  return neighbour.times.hello_sent +
         (neighbour.state == LinkState::kRefused ? refused : config.hello_every);
}

}  // namespace stencil
