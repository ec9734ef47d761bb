#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stencil/shared/meeting.h"

namespace stencil {

/// Passes descriptors of segments over a Unix socket of abstract name (nothing in the file system).
/// The name and a secret travel in Hello. A process that does not know the secret, or belongs to
/// another user, gets nothing. A connection proves that both are on one host. Of two neighbours the
/// higher rank dials:
///
///     dialler  -> Packet{secret of the listener, own id, own rank} + own descriptor
///     listener -> Packet{the same secret, own id, own rank} + own descriptor
class UnixMeeting final : public Meeting {
 public:
  /// `own` must outlive this. Throws ConfigError where it cannot listen on a socket.
  UnixMeeting(const Layout& layout, Rank rank, Segment& own, LogSink log);
  ~UnixMeeting() override;

  [[nodiscard]] const std::string& token() const override { return token_; }
  void meet(Rank rank, const std::string& token) override;
  void forget(Rank rank) override;
  void poll() override;
  [[nodiscard]] Segment* find(Rank rank) override;

  /// Readable when poll() has something to do.
  [[nodiscard]] int descriptor() const { return epoll_; }

  /// How many connections that have sent nothing are kept; the oldest is closed first.
  static constexpr std::size_t kMaxStrangers = 16;
  /// How many connections may wait to be accepted; a dialler that finds no room dials again.
  static constexpr int kBacklog = 64;
  /// How many are accepted in one poll(). Where more wait, which may be strangers that dial in a
  /// loop, nobody is accepted for a pause, twice as long each time that it happens again.
  static constexpr int kMostAtOnce = kBacklog;
  static constexpr Duration kShortestPause = std::chrono::milliseconds(20);
  static constexpr Duration kLongestPause = std::chrono::milliseconds(640);

 private:
  struct Neighbour {
    std::string token;
    std::uint64_t id = 0, secret = 0;  ///< from the token
    int dialled = -1;                  ///< awaits the answer
    bool dial_again = false;
    std::optional<Segment> segment;
    /// The descriptor of a segment that came before the Hello that identifies it.
    int early = -1;
    std::uint64_t early_id = 0;
  };
  void dial(Rank rank, Neighbour& neighbour);
  /// Accepts some of those that wait; returns how many.
  int accept();
  void accept_and_hear();
  void begin_pause();
  /// Whether there is no pause, or not any more.
  bool pause_is_over();
  void hear_stranger(int connection);
  void hear_answer(Rank rank, Neighbour& neighbour);
  void take(Rank rank, Neighbour& neighbour, int descriptor);
  void drop(Neighbour& neighbour);
  void watch(int descriptor);
  void do_not_watch(int descriptor);
  void no_luck(Rank rank, const std::string& why);

  Layout layout_;
  Rank rank_;
  Segment& own_;
  LogSink log_;
  std::uint64_t secret_ = 0;
  std::string token_;
  int epoll_ = -1, listener_ = -1;
  int pause_ = -1;  ///< a timer: nobody is accepted until it has expired
  bool pausing_ = false;
  Duration next_pause_ = kShortestPause;
  std::vector<int> strangers_;
  std::map<Rank, Neighbour> neighbours_;
};

}  // namespace stencil
