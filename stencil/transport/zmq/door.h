#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "stencil/core/types.h"
#include "stencil/transport/zmq/meter.h"

namespace stencil {

/// What a Door allows.
struct DoorBounds {
  std::size_t newcomers = 0;    ///< connections at a time that are not trusted
  std::size_t held = 0;         ///< bytes that libzmq may hold of one message of one connection
  std::size_t held_in_all = 0;  ///< of all that are not trusted
  /// How long one may say nothing, and for how long none is made to go for want of room.
  Duration patience{}, grace{};

  /// As many newcomers as a share of this process's limit of open files allows.
  [[nodiscard]] static DoorBounds of(std::size_t max_frame_bytes, bool encrypted);
};

/// Keeps bounds on who has connected to a listening socket of libzmq's, which knows none for the
/// number of connections, nor for the parts of a message. A connection is a newcomer until it is
/// trusted. One thread; never asks the clock.
class Door {
 public:
  /// `listener` is the listening socket and stays open for as long as this, as `hangup` does.
  Door(int listener, Hangup& hangup, const DoorBounds& bounds);
  ~Door();
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  /// libzmq has accepted a connection, or closed one. Whoever was let in and is not known here is
  /// nobody's loss: what is called for it has no effect.
  void came(TimePoint now, int descriptor);
  void left(int descriptor);
  [[nodiscard]] bool knows(int descriptor);
  /// A whole message has come on it.
  void heard(int descriptor, std::size_t wire_bytes);
  /// All connections are libzmq's no more.
  void clear() { guests_.clear(); }
  /// It is a neighbour's: from now on only the length of its messages is bounded.
  void trust(int descriptor);
  /// Its end is reported by libzmq as any other.
  void hang_up(int descriptor);
  /// Nobody comes in until then: libzmq has no descriptors left.
  void shut_until(TimePoint time);

  /// Hangs up on newcomers that are too many or too slow, and opens the door where it was shut and
  /// there is room. Returns whether some connection holds more than it may, as far as can be told:
  /// then judge() is to be called once libzmq has nothing more to hand on.
  [[nodiscard]] bool look(TimePoint now);
  /// Hangs up on those that held more than they may at the last look(), and hold it still.
  void judge();

  [[nodiscard]] bool empty() const { return guests_.empty(); }
  [[nodiscard]] bool shut() const { return shut_; }
  /// Bytes that libzmq held of all connections at the last look(), and has not handed on since.
  [[nodiscard]] std::size_t held() const;
  /// How many were hung up on, and why: for want of room, for showing nothing in all their time,
  /// for what they held.
  struct Sent {
    std::uint64_t crowded = 0, silent = 0, endless = 0;
  };
  [[nodiscard]] const Sent& sent() const { return sent_; }

 private:
  struct Guest {
    Meter meter;
    TimePoint since;
    bool trusted = false, ending = false;
  };
  using Guests = std::map<int, Guest>;

  void hang_up(Guest& guest, std::uint64_t& count);
  /// Forgets those whose connections libzmq has closed.
  void look_at_all();
  [[nodiscard]] std::size_t newcomers() const;
  /// Whom to hang up on for want of room: of the host that has most newcomers the first that came.
  /// Null where all came too short a time ago.
  [[nodiscard]] Guest* first_to_go(TimePoint now);
  /// Who holds the most of all newcomers; null where those hold no more than they may in all.
  [[nodiscard]] Guest* greediest();
  void set_shut(bool shut);

  const int listener_;
  const std::uint16_t port_;
  Hangup& hangup_;
  const DoorBounds bounds_;
  Guests guests_;
  bool shut_ = false;
  TimePoint shut_until_{};
  Sent sent_;
};

}  // namespace stencil
