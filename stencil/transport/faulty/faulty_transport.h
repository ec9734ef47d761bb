#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stencil/core/random.h"
#include "stencil/core/types.h"
#include "stencil/transport/transport.h"

namespace stencil {

/// What may befall one frame; each is drawn by itself. Probabilities in [0, 1].
struct FaultRates {
  double drop = 0;
  double duplicate = 0;  ///< a second copy follows at once
  double corrupt = 0;    ///< one bit of the payload is turned over; frames without one are spared
};

struct FaultyOptions {
  std::uint64_t seed = 1;
  FaultRates send;
  FaultRates receive;
  double delay = 0;             ///< probability that a received frame is held back
  int delay_calls = 0;          ///< ... for 1 .. so many further calls of receive()
  Duration delay_time{0};       ///< ... and for 0 .. so long, in the time given to advance()
  bool keep_order = true;       ///< frames behind a held one wait for it, link by link
  std::size_t max_held = 1024;  ///< beyond, frames are dropped
};

struct FaultCounts {
  std::uint64_t dropped = 0, duplicated = 0, corrupted = 0, delayed = 0, cuts = 0;
};

/// A transport that breaks what it carries, on purpose and repeatably: the same seed and the same
/// calls give the same faults. Wraps any other; link ids are its own, so that an inbound link that
/// was cut comes back as a new one. One thread, as every transport.
class FaultyTransport final : public Transport {
 public:
  FaultyTransport(std::unique_ptr<Transport> inner, const FaultyOptions& options);

  /// Breaks a link: kDown is reported, nothing passes in either direction until `until` (in the
  /// time given to advance()) or heal(). Then a dialled link reports kUp; an inbound one is new.
  void cut(LinkId link, TimePoint until = kNever);
  void heal(LinkId link);

  /// Virtual time: never read from a clock. May only grow.
  void advance(TimePoint now);
  /// When advance() would change something next; kNever when nothing waits for time.
  [[nodiscard]] TimePoint next_change() const;

  [[nodiscard]] FaultCounts counts() const { return counts_; }
  [[nodiscard]] Transport& inner() { return *inner_; }

  [[nodiscard]] std::string endpoint() const override { return inner_->endpoint(); }
  LinkId dial(const PeerAddress& address) override;
  void drop(LinkId link) override;
  [[nodiscard]] SendStatus send(LinkId link, Frame&& frame) override;
  [[nodiscard]] std::optional<Received> receive() override;
  /// The inner transport's; frames dropped here count as discarded.
  [[nodiscard]] TransportStats stats() const override;

 private:
  struct Link {
    LinkId inner = 0;
    bool dialled = false;
    bool up = false;  ///< the inner link of a dialled one
    bool cut = false;
    std::optional<Rank> proven;  ///< as of the last frame or kUp
    TimePoint until = kNever;
    std::int64_t last_call = 0;              ///< no later frame of this link before this call ...
    TimePoint last_time = TimePoint::min();  ///< ... and this time
  };
  struct Held {
    Received received;
    std::int64_t call = 0;
    TimePoint time = TimePoint::min();
  };

  bool happens(double probability);
  [[nodiscard]] Frame corrupted(const Frame& frame);
  [[nodiscard]] LinkId outer(LinkId inner);
  void take_in(Received received);
  void take_in_frame(LinkId id, Link& link, Frame frame);
  void hold(LinkId id, Link& link, LinkEvent event, Frame frame, bool delayed);
  void forget(LinkId id);
  void lose_held(LinkId id);
  [[nodiscard]] std::optional<Received> next_due();

  std::unique_ptr<Transport> inner_;
  FaultyOptions options_;
  Random random_;
  FaultCounts counts_;
  TimePoint now_ = TimePoint::min();
  std::int64_t calls_ = 0;
  LinkId last_link_ = 0;
  std::map<LinkId, Link> links_;
  std::map<LinkId, LinkId> by_inner_;
  std::deque<Held> held_;  ///< all that came in and was not handed out, in the order it came
};

}  // namespace stencil
