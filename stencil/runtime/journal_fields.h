#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "stencil/engine/config.h"
#include "stencil/engine/input.h"

/// How a journal lays out its values: walk(archive, value) takes a value apart, down to numbers and
/// texts. The same list of fields serves to write, to read and to compare.
namespace stencil::journal {

template <typename T, typename U>
concept Is = std::same_as<std::remove_const_t<T>, U>;

// The last value of each enumeration that is read.
constexpr WorkerState last(WorkerState) {
  return WorkerState::kFrozen;
}
constexpr Pause last(Pause) {
  return Pause::kSweeping;
}
constexpr ShareResult last(ShareResult) {
  return ShareResult::kHeld;
}
constexpr ReplyStatus last(ReplyStatus) {
  return ReplyStatus::kRejected;
}
constexpr Mode::Kind last(Mode::Kind) {
  return Mode::Kind::kSync;
}

template <typename A, typename T>
void walk(A& archive, T& value);
template <typename A, typename... T>
void all(A& archive, T&... values) {
  (walk(archive, values), ...);
}

template <typename A, Is<LifeId> T>
void fields(A& a, T& v) {
  all(a, v.high, v.low);
}
template <typename A, Is<CodecSpec> T>
void fields(A& a, T& v) {
  all(a, v.number, v.parameter);
}
template <typename A, Is<Term> T>
void fields(A& a, T& v) {
  all(a, v.name, v.value);
}
template <typename A, Is<TermHash> T>
void fields(A& a, T& v) {
  all(a, v.name, v.hash);
}
template <typename A, Is<Place> T>
void fields(A& a, T& v) {
  all(a, v.rank, v.turn, v.weight);
}
template <typename A, Is<Mode> T>
void fields(A& a, T& v) {
  all(a, v.kind, v.bound);
}

// Messages. Of a payload only whether there is one: the engine looks no further.
template <typename A, Is<MessageHeader> T>
void fields(A& a, T& v) {
  all(a, v.from, v.sender_epoch, v.receiver_epoch, v.said, v.state, v.step, v.calm, v.settled);
}
template <typename A, Is<Hello> T>
void fields(A& a, T& v) {
  all(a, v.protocol, v.run_id, v.topology, v.generation, v.layout_hash, v.initial_hash,
      v.initial_rank, v.mode, v.codec, v.last_answered, v.last_settled, v.meeting, v.progress,
      v.life, v.host, v.terms);
}
template <typename A, Is<HelloRequest> T>
void fields(A& a, T& v) {
  all(a, v.known);
}
template <typename A, Is<Refusal> T>
void fields(A& a, T& v) {
  all(a, v.text, v.term, v.answer, v.taken, v.marks);
}
template <typename A, Is<Offer> T>
void fields(A& a, T& v) {
  all(a, v.sequence, v.bucket, v.ahead, v.codec, v.payload);
}
template <typename A, Is<Reply> T>
void fields(A& a, T& v) {
  all(a, v.sequence, v.bucket, v.divisor, v.status, v.codec, v.payload);
}
template <typename A, Is<Pull> T>
void fields(A& a, T& v) {
  all(a, v.bucket, v.round);
}
template <typename A, Is<Snapshot> T>
void fields(A& a, T& v) {
  all(a, v.bucket, v.round, v.codec, v.payload);
}
template <typename A, Is<Heartbeat> T>
void fields(A& a, T& v) {
  all(a, v.first_batch);
}
template <typename A, Is<Message> T>
void fields(A& a, T& v) {
  all(a, v.header, v.body);
}

// Inputs.
template <typename A, typename T>
requires requires(T v) {
  v.rank;
} &&(std::is_trivially_copyable_v<T>)&&(sizeof(T) <= 4) void fields(A& a, T& v) {
  all(a, v.rank);  // of those that name a neighbour alone
}
template <typename A, Is<input::Added> T>
void fields(A& a, T& v) {
  all(a, v.place);
}
template <typename A, Is<input::Heard> T>
void fields(A& a, T& v) {
  all(a, v.rank, v.message);
}
template <typename A, Is<input::Made> T>
void fields(A& a, T& v) {
  all(a, v.from);
}
template <typename A, Is<input::Boundary> T>
void fields(A& a, T& v) {
  all(a, v.step);
}
template <typename A, Is<input::Paused> T>
void fields(A& a, T& v) {
  all(a, v.pause);
}
template <typename A, Is<input::Published> T>
void fields(A& a, T& v) {
  all(a, v.round);
}
template <typename A, Is<input::Wanted> T>
void fields(A& a, T& v) {
  all(a, v.state);
}
template <typename A, Is<input::Progress> T>
void fields(A& a, T& v) {
  all(a, v.steps);
}
template <typename A, Is<input::Sharing> T>
void fields(A& a, T& v) {
  all(a, v.rank, v.shared);
}
template <typename A, Is<input::Shared> T>
void fields(A& a, T& v) {
  all(a, v.rank, v.bucket, v.result);
}
template <typename A, Is<MadeOffer> T>
void fields(A& a, T& v) {
  all(a, v.codec, v.payload, v.finishing, v.norm2);
}
template <typename A, Is<input::OfferMade> T>
void fields(A& a, T& v) {
  all(a, v.rank, v.sequence, v.made);
}
template <typename A, Is<input::Answered> T>
void fields(A& a, T& v) {
  all(a, v.rank, v.reply);
}

template <typename A, Is<input::FirstBatch> T>
void fields(A& a, T& v) {
  all(a, v.hash);
}

// Actions.
template <typename A, Is<OpenOffer> T>
void fields(A& a, T& v) {
  all(a, v.sequence, v.bucket, v.since, v.codec, v.payload, v.finishing);
}
template <typename A, Is<action::Send> T>
void fields(A& a, T& v) {
  all(a, v.to, v.message);
}
template <typename A, Is<action::MakeOffer> T>
void fields(A& a, T& v) {
  all(a, v.to, v.bucket, v.sequence);
}
template <typename A, Is<action::Answer> T>
void fields(A& a, T& v) {
  all(a, v.to, v.message, v.divisor, v.status);
}
template <typename A, Is<action::Merge> T>
void fields(A& a, T& v) {
  all(a, v.with, v.ours, v.message);
}
template <typename A, Is<action::Settle> T>
void fields(A& a, T& v) {
  all(a, v.with, v.ours, v.message);
}
template <typename A, Is<action::Share> T>
void fields(A& a, T& v) {
  all(a, v.with, v.bucket);
}
template <typename A, Is<action::Serve> T>
void fields(A& a, T& v) {
  all(a, v.to, v.bucket, v.round);
}
template <typename A, Is<action::Adopt> T>
void fields(A& a, T& v) {
  all(a, v.from, v.snapshot, v.initial);
}
template <typename A, Is<action::Absorb> T>
void fields(A& a, T& v) {
  all(a, v.from, v.snapshot);
}
template <typename A, Is<action::Refused> T>
void fields(A& a, T& v) {
  all(a, v.by);
}
template <typename A, Is<action::Warn> T>
void fields(A& a, T& v) {
  all(a, v.about);
}

/// All but `arrays` and `naming`, which only word texts.
template <typename A, Is<EngineConfig> T>
void fields(A& a, T& v) {
  all(a, v.rank, v.neighbours, v.turns, v.reach, v.topology, v.mode, v.buckets, v.carried,
      v.sweeps_per_mille, v.window, v.window_total, v.retained_total, v.most_held, v.tell_every,
      v.heartbeat_every, v.suspect_after, v.gone_after, v.hello_every, v.reply_deadline, v.hello,
      v.terms, v.behind_share, v.behind_steps, v.missed_steps, v.most_progress, v.lowest_initial,
      v.trained, v.proven, v.seed);
}

template <typename T>
struct IsVariant : std::false_type {};
template <typename... T>
struct IsVariant<std::variant<T...>> : std::true_type {};
template <typename T>
struct IsVector : std::false_type {};
template <typename T>
struct IsVector<std::vector<T>> : std::true_type {};

template <typename A, typename T>
void walk(A& archive, T& value) {
  using V = std::remove_const_t<T>;
  if constexpr (std::is_arithmetic_v<V> || std::is_enum_v<V>) {
    archive.number(value);
  } else if constexpr (std::is_same_v<V, std::string>) {
    archive.text(value);
  } else if constexpr (std::is_same_v<V, Payload>) {
    archive.payload(value);
  } else if constexpr (std::is_same_v<V, Duration> || std::is_same_v<V, TimePoint>) {
    archive.time(value);
  } else if constexpr (IsVariant<V>::value) {
    archive.one_of(value);
  } else if constexpr (IsVector<V>::value) {
    archive.list(value);
  } else if constexpr (!std::is_empty_v<V>) {
    fields(archive, value);
  }
}

/// Appends to bytes. With `texts` false it leaves out texts, which no decision depends on.
class Writer {
 public:
  explicit Writer(Bytes& out, bool texts = true) : out_(out), texts_(texts) {}

  template <typename T>
  void number(const T& value) {
    append(&value, sizeof(T));
  }
  void text(const std::string& value) {
    if (!texts_) return;
    number(static_cast<std::uint32_t>(value.size()));
    append(value.data(), value.size());
  }
  void payload(const Payload& value) { number(static_cast<bool>(value)); }
  void time(Duration value) { number(static_cast<std::int64_t>(value.count())); }
  void time(TimePoint value) { time(value.time_since_epoch()); }
  template <typename T>
  void one_of(const T& value) {
    number(static_cast<std::uint8_t>(value.index()));
    std::visit([this](const auto& what) { walk(*this, what); }, value);
  }
  template <typename T>
  void list(const std::vector<T>& values) {
    number(static_cast<std::uint32_t>(values.size()));
    for (const T& value : values) walk(*this, value);
  }
  void append(const void* from, std::size_t size);

 private:
  Bytes& out_;
  bool texts_;
};

/// Reads what a Writer wrote. What does not fit makes it bad(), and all that follows zero.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> in) : in_(in) {}

  [[nodiscard]] bool bad() const { return bad_; }
  [[nodiscard]] std::size_t left() const { return in_.size(); }

  template <typename T>
  void number(T& value) {
    const std::span<const std::byte> bytes = take(sizeof(T));
    if (bad_) return;
    if constexpr (std::is_same_v<T, bool>) {
      bad_ |= bytes[0] > std::byte{1};
      value = bytes[0] == std::byte{1};
    } else {
      std::memcpy(&value, bytes.data(), sizeof(T));
      if constexpr (std::is_enum_v<T>) {
        if (value > last(value)) refuse(value);
      }
    }
  }
  void text(std::string& value) {
    std::uint32_t size = 0;
    number(size);
    const std::span<const std::byte> bytes = take(size);
    value.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  void payload(Payload& value) {
    bool any = false;
    number(any);
    value = any ? Payload(Bytes(1)) : Payload();
  }
  void time(Duration& value) {
    std::int64_t count = 0;
    number(count);
    value = Duration(count);
  }
  void time(TimePoint& value) {
    Duration since{};
    time(since);
    value = TimePoint(since);
  }
  template <typename... T>
  void one_of(std::variant<T...>& value) {
    std::uint8_t kind = 0;
    number(kind);
    if (kind >= sizeof...(T)) bad_ = true;
    if (!bad_) read_kind<0>(value, kind);
  }
  template <typename T>
  void list(std::vector<T>& values) {
    std::uint32_t size = 0;
    number(size);
    if (size > in_.size()) bad_ = true;  // each takes a byte at least
    values.clear();
    for (std::uint32_t i = 0; i < size && !bad_; ++i) walk(*this, values.emplace_back());
  }
  std::span<const std::byte> take(std::size_t size) {
    bad_ |= size > in_.size();
    if (bad_) return {};
    const std::span<const std::byte> bytes = in_.first(size);
    in_ = in_.subspan(size);
    return bytes;
  }

 private:
  template <typename T>
  void refuse(T& value) {
    bad_ = true;
    value = T{};
  }
  template <std::size_t kAt, typename V>
  void read_kind(V& value, std::size_t kind) {
    if constexpr (kAt < std::variant_size_v<V>) {
      if (kind != kAt) return read_kind<kAt + 1>(value, kind);
      walk(*this, value.template emplace<kAt>());
    }
  }

  std::span<const std::byte> in_;
  bool bad_ = false;
};

}  // namespace stencil::journal
