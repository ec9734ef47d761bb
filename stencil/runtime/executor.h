#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stencil/engine/engine.h"
#include "stencil/mix/mixer.h"
#include "stencil/runtime/complaints.h"
#include "stencil/runtime/outbox.h"
#include "stencil/runtime/payload_forms.h"
#include "stencil/runtime/pump_status.h"
#include "stencil/runtime/settlement.h"

namespace stencil {

/// Does what the engine wants done: makes and reads payloads, has the mixer apply them, and sends.
/// What is to be applied to a bucket that another process holds is owed, and made up for later. One
/// thread.
class Executor {
 public:
  Executor(Engine& engine, Mixer& mixer, PayloadForms& forms, Outbox& outbox,
           Settlement& settlement, Complaints& complaints, PumpCounters& counters);

  /// In order; `actions` is empty afterwards. They are of one input of the engine's.
  void run(Actions& actions);
  /// Applies what is owed, where that can be done by now.
  void make_up();
  [[nodiscard]] bool owes() const { return !owed_.empty(); }
  /// What is owed of a neighbour that is removed goes with it.
  void forget(const Neighbour& neighbour);

  /// What offers of ours show from now on is the model that is to be agreed on.
  [[nodiscard]] bool finishing() const;
  /// Why a neighbour and we do not match; empty: all well.
  [[nodiscard]] const std::string& refused() const { return refused_; }

  // One for each action.
  void operator()(action::Send& send);
  void operator()(action::MakeOffer& offer);
  void operator()(action::Answer& answer);
  void operator()(action::Merge& merge);
  void operator()(action::Settle& settle) { apply_or_owe(settle); }
  void operator()(action::Share& /*share*/) {}  // done where it is asked for, see MemorySharing
  void operator()(action::Serve& serve);
  void operator()(action::Adopt& adopt) { apply_or_owe(adopt); }
  void operator()(action::Absorb& absorb) { apply_or_owe(absorb); }
  void operator()(action::Refused& refused);

 private:
  void close(std::uint32_t bucket);
  void decline(Neighbour& to, const Offer& offer, ReplyStatus status);
  void reply(Neighbour& to, Reply reply);
  template <typename Owed>
  void apply_or_owe(Owed& owed);
  // False where another process holds the bucket; then it is to be tried again.
  bool apply(const action::Merge& merge);
  bool apply(const action::Settle& settle);
  bool apply(const action::Serve& serve);
  bool apply(const action::Adopt& adopt);
  bool apply(const action::Absorb& absorb);
  /// Counts and logs why what a neighbour sent was not applied.
  void reject(const Neighbour& from, const MixReport& report, const char* cause, const char* what);
  void measured(Neighbour& neighbour, std::uint32_t bucket, const MixReport& report, int divisor,
                bool telling);
  [[nodiscard]] bool telling(const Message& theirs, const OpenOffer* ours) const;

  Engine& engine_;
  Mixer& mixer_;
  PayloadForms& forms_;
  Outbox& outbox_;
  Settlement& settlement_;
  Complaints& complaints_;
  PumpCounters& counters_;
  /// At most one for each open request and pull.
  using Owed =
      std::variant<action::Merge, action::Settle, action::Serve, action::Adopt, action::Absorb>;
  std::vector<Owed> owed_;
  std::string refused_;
};

}  // namespace stencil
