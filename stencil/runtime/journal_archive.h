#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "stencil/engine/engine.h"

/// How a journal writes and reads values: walk(archive, value) takes a value apart, down to numbers
/// and texts, by fields(archive, value). The same list of fields serves to write, to read and to
/// compare.
namespace stencil::journal {

// The last value of each enumeration that is read.
constexpr WorkerState last(WorkerState) {
  return WorkerState::kFrozen;
}
constexpr Pause last(Pause) {
  return Pause::kSweeping;
}
constexpr ShareResult last(ShareResult) {
  return ShareResult::kLocked;
}
constexpr ReplyStatus last(ReplyStatus) {
  return ReplyStatus::kRejected;
}
constexpr Mode::Kind last(Mode::Kind) {
  return Mode::Kind::kSync;
}
constexpr LinkState last(LinkState) {
  return LinkState::kRefused;
}

template <typename A, typename T>
void walk(A& archive, T& value);
template <typename A, typename... T>
void all(A& archive, T&... values) {
  (walk(archive, values), ...);
}

template <typename T>
struct IsVariant : std::false_type {};
template <typename... T>
struct IsVariant<std::variant<T...>> : std::true_type {};
template <typename T>
struct IsVector : std::false_type {};
template <typename T>
struct IsVector<std::vector<T>> : std::true_type {};
template <typename T>
struct IsMap : std::false_type {};
template <typename K, typename V>
struct IsMap<std::map<K, V>> : std::true_type {};

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
  } else if constexpr (IsMap<V>::value) {
    archive.map(value);
  } else if constexpr (std::is_same_v<V, Neighbour*>) {
    archive.neighbour(value);
  } else if constexpr (!std::is_empty_v<V>) {
    fields(archive, value);
  }
}

/// Appends to bytes. With `texts` false it leaves out texts, which no decision depends on.
class Writer {
 public:
  explicit Writer(Bytes& out, bool texts = true) : out_(out), texts_(texts) {}

  template <typename... T>
  void operator()(T&... values) {
    all(*this, values...);
  }
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
  template <typename K, typename V>
  void map(const std::map<K, V>& values) {
    number(static_cast<std::uint32_t>(values.size()));
    for (const auto& [key, value] : values) all(*this, key, value);
  }
  void neighbour(const Neighbour* value) { number(value->rank); }
  void expect(bool /*sound*/) {}
  void append(const void* from, std::size_t size);

 private:
  Bytes& out_;
  bool texts_;
};

/// Reads what a Writer wrote. What does not fit makes it bad(), and all that follows zero.
class Reader {
 public:
  /// A neighbour that is named must be one of `neighbours`.
  explicit Reader(std::span<const std::byte> in, Neighbours* neighbours = nullptr)
      : in_(in), neighbours_(neighbours) {}

  [[nodiscard]] bool bad() const { return bad_; }
  [[nodiscard]] std::size_t left() const { return in_.size(); }

  template <typename... T>
  void operator()(T&... values) {
    all(*this, values...);
  }
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
  template <typename K, typename V>
  void map(std::map<K, V>& values) {
    std::uint32_t size = 0;
    number(size);
    values.clear();
    for (std::uint32_t i = 0; i < size && !bad_; ++i) {
      K key{};
      walk(*this, key);
      walk(*this, values[key]);
    }
  }
  void neighbour(Neighbour*& value) {
    Rank rank = kNoRank;
    number(rank);
    value = neighbours_ == nullptr ? nullptr : neighbours_->find(rank);
    bad_ |= value == nullptr;
  }
  void expect(bool sound) { bad_ |= !sound; }
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
  Neighbours* neighbours_;
  bool bad_ = false;
};

}  // namespace stencil::journal
