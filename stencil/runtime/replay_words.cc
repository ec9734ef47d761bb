#include <string>
#include <variant>

#include "stencil/runtime/replay.h"

// What replay() tells, in words.
namespace stencil {
namespace {

std::string number(std::uint64_t n) {
  return std::to_string(n);
}

std::string with_values(const Payload& payload) {
  return payload ? "" : " without values";
}

const char* name(Pause pause) {
  switch (pause) {
    case Pause::kNone:
      return "nothing";
    case Pause::kGathering:
      return "its neighbours";
    case Pause::kSweeping:
      return "its sweeps";
  }
  return "";
}

const char* name(ReplyStatus status) {
  switch (status) {
    case ReplyStatus::kDelta:
      return "a delta";
    case ReplyStatus::kBusy:
      return "busy";
    case ReplyStatus::kFrozen:
      return "frozen";
    case ReplyStatus::kRejected:
      return "rejected";
  }
  return "";
}

struct BodyWords {
  std::string operator()(const Hello& m) const {
    return "hello of generation " + number(m.generation) + ", answered " + number(m.last_answered) +
           ", completed " + number(m.last_completed);
  }
  std::string operator()(const HelloRequest& m) const {
    return "request for a hello above generation " + number(m.known);
  }
  std::string operator()(const Refusal& m) const { return "refusal: " + m.text; }
  std::string operator()(const Offer& m) const {
    return "offer " + number(m.sequence) + " of bucket " + number(m.bucket) +
           with_values(m.payload) + (m.ahead ? ", of the step in progress" : "");
  }
  std::string operator()(const Reply& m) const {
    return "reply to offer " + number(m.sequence) + " of bucket " + number(m.bucket) + ": " +
           name(m.status);
  }
  std::string operator()(const Pull& m) const {
    return "pull of bucket " + number(m.bucket) + ", round " + number(m.round);
  }
  std::string operator()(const Snapshot& m) const {
    return "snapshot of bucket " + number(m.bucket) + ", round " + number(m.round);
  }
  std::string operator()(const Heartbeat&) const { return "heartbeat"; }
  std::string operator()(const Leave&) const { return "leave"; }
};

std::string in_words(const Message& message) {
  return std::visit(BodyWords{}, message.body) + " (" +
         std::string(stencil::name(message.header.state)) + ", step " +
         number(message.header.step) + ")";
}

struct InputWords {
  std::string operator()(const input::Added&) const { return "is added"; }
  std::string operator()(const input::Retired&) const { return "is to be removed"; }
  std::string operator()(const input::Parted&) const { return "is parted from"; }
  std::string operator()(const input::Removed&) const { return "is removed"; }
  std::string operator()(const input::LinkUp&) const { return "has a link"; }
  std::string operator()(const input::LinkDown&) const { return "has lost its link"; }
  std::string operator()(const input::Heard& in) const { return "hears " + in_words(in.message); }
  std::string operator()(const input::Made& in) const {
    return "buckets from " + number(in.from) + " hold the step in progress";
  }
  std::string operator()(const input::Boundary& in) const {
    return "passes boundary " + number(in.step);
  }
  std::string operator()(const input::Paused& in) const {
    return std::string("waits for ") + name(in.pause);
  }
  std::string operator()(const input::Published& in) const {
    return "publishes round " + number(in.round);
  }
  std::string operator()(const input::Wanted& in) const {
    return "is " + std::string(stencil::name(in.state));
  }
  std::string operator()(const input::Progress& in) const {
    return "its model has come " + std::to_string(in.steps) + " steps far";
  }
  std::string operator()(const input::GaveUpJoining&) const { return "gives up joining"; }
  std::string operator()(const input::Tick&) const { return "time passes"; }
  std::string operator()(const input::Sharing& in) const {
    return in.shared ? "shares its memory" : "no longer shares its memory";
  }
  std::string operator()(const input::TookShares&) const { return "averages in shared memory"; }
  std::string operator()(const input::Shared& in) const {
    const char* const how = in.result == ShareResult::kDone      ? " is averaged"
                            : in.result == ShareResult::kRefused ? " is refused"
                                                                 : " is held by another process";
    return "bucket " + number(in.bucket) + how;
  }
  std::string operator()(const input::OfferMade& in) const {
    return "offer " + number(in.sequence) + " is made" + with_values(in.made.payload);
  }
  std::string operator()(const input::Answered& in) const {
    return "offer " + number(in.reply.sequence) + " of bucket " + number(in.reply.bucket) +
           " is answered: " + name(in.reply.status);
  }
  std::string operator()(const input::Stamped&) const { return "a message is stamped"; }
  std::string operator()(const input::FirstBatch&) const { return "its first batch is known"; }
  std::string operator()(const input::StartHashed&) const {
    return "the initial weights from it are hashed";
  }
  std::string operator()(const input::GridChanged& in) const {
    return "the grid changes for the " + number(in.grid.version) + ". time";
  }
};

struct ActionWords {
  std::string operator()(const action::Send& a) const { return "send " + in_words(a.message); }
  std::string operator()(const action::MakeOffer& a) const {
    return "make offer " + number(a.sequence) + " of bucket " + number(a.bucket);
  }
  std::string operator()(const action::Answer& a) const {
    const Offer& offer = *a.message.as<Offer>();
    return "answer offer " + number(offer.sequence) + " of bucket " + number(offer.bucket) +
           (a.divisor == 0 ? std::string(": ") + name(a.status)
                           : " with 1/" + number(a.divisor) + " of the difference");
  }
  std::string operator()(const action::Merge& a) const {
    return "merge their offer of bucket " + number(a.ours.bucket) + " with our offer " +
           number(a.ours.sequence);
  }
  std::string operator()(const action::Complete& a) const {
    return "complete our offer " + number(a.ours.sequence) + " of bucket " + number(a.ours.bucket);
  }
  std::string operator()(const action::Share& a) const {
    return "average bucket " + number(a.bucket) + " in shared memory";
  }
  std::string operator()(const action::Serve& a) const {
    return "serve bucket " + number(a.bucket) + ", round " + number(a.round);
  }
  std::string operator()(const action::Adopt& a) const {
    return (a.snapshot.payload ? "adopt bucket " : "restore bucket ") + number(a.snapshot.bucket);
  }
  std::string operator()(const action::Absorb& a) const {
    return "absorb bucket " + number(a.snapshot.bucket);
  }
  std::string operator()(const action::HashStart& a) const {
    return "hash piece " + number(a.piece) + " of its initial weights";
  }
  std::string operator()(const action::Refused& a) const { return "report: " + a.text; }
  std::string operator()(const action::Warn& a) const { return "warn: " + a.text; }
};

}  // namespace

std::string in_words(const Input& input) {
  return std::visit(InputWords{}, input);
}

std::string in_words(const Action& action) {
  return std::visit(ActionWords{}, action);
}

Rank edge_of(const Input& input) {
  return std::visit(
      [](const auto& in) -> Rank {
        if constexpr (requires { in.rank; }) return in.rank;
        if constexpr (requires { in.place; }) return in.place.rank;
        return kNoRank;
      },
      input);
}

Rank edge_of(const Action& action) {
  return std::visit(
      [](const auto& what) -> Rank {
        if constexpr (requires { what.to; }) return what.to;
        if constexpr (requires { what.with; }) return what.with;
        if constexpr (requires { what.from; }) return what.from;
        if constexpr (requires { what.by; }) return what.by;
        if constexpr (requires { what.about; }) return what.about;
        return kNoRank;
      },
      action);
}

}  // namespace stencil
