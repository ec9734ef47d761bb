#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stencil/core/start_hash.h"
#include "stencil/engine/engine.h"
#include "stencil/mix/mixer.h"
#include "stencil/runtime/carried.h"
#include "stencil/runtime/complaints.h"
#include "stencil/runtime/outbox.h"
#include "stencil/runtime/payload_forms.h"
#include "stencil/runtime/pump_status.h"
#include "stencil/runtime/settlement.h"

namespace stencil {

/// Carries out the engine's actions: writes and reads payloads, lets the mixer apply them, and
/// sends messages. Where another process holds a bucket, what is to be applied to it is kept as
/// owed and applied later. One thread.
class Executor {
 public:
  /// `edges` are those of the engine's neighbours.
  Executor(Engine& engine, Edges& edges, Mixer& mixer, Carried& carried, PayloadForms& forms,
           Outbox& outbox, Settlement& settlement, Complaints& complaints, PumpCounters& counters);

  /// Carries out `actions`, which one input of the engine's produced, in order, and empties it.
  void run(Actions& actions);
  /// Applies what is owed, where its bucket is free by now.
  void make_up();
  [[nodiscard]] bool owes() const { return !owed_.empty(); }
  /// Bytes of neighbours' payloads that are owed.
  [[nodiscard]] std::size_t held() const;
  /// Drops what is owed for a neighbour that is removed.
  void forget(Rank neighbour);

  /// Whether our offers show the final model, after the last step.
  [[nodiscard]] bool finishing() const;
  /// Why a neighbour and we cannot exchange; empty where all match. Who refused and is up by now
  /// has been started anew.
  [[nodiscard]] std::string refused() const;

  // One for each action.
  void operator()(action::Send& send);
  void operator()(action::MakeOffer& offer);
  void operator()(action::Answer& answer);
  void operator()(action::Merge& merge) { apply_or_owe(merge); }
  void operator()(action::Complete& complete) { apply_or_owe(complete); }
  void operator()(action::Share& /*share*/) {}  // done in MemorySharing
  void operator()(action::Serve& serve);
  void operator()(action::Adopt& adopt) { apply_or_owe(adopt); }
  void operator()(action::Absorb& absorb) { apply_or_owe(absorb); }
  void operator()(action::Refused& refused);
  void operator()(action::Warn& warning);
  void operator()(action::HashStart& start);

 private:
  void close_request(std::uint32_t bucket);
  template <typename Owed>
  void apply_or_owe(Owed& owed);
  // Returns false where another process holds the bucket; then try again later.
  bool apply(const action::Merge& merge);
  bool apply(const action::Complete& complete);
  bool apply(const action::Serve& serve);
  bool apply(const action::Adopt& adopt);
  bool apply(const action::Absorb& absorb);
  /// The chunk of what is carried that a bucket of a newcomer's copy is; nullopt for one of values.
  [[nodiscard]] std::optional<std::uint32_t> chunk(std::uint32_t bucket) const;
  /// Counts and logs why what a neighbour sent was not applied.
  void reject(Rank from, const MixReport& report, const char* cause, const char* what);
  /// Counts and names what of the neighbour's telemetry was not taken.
  void note_refused(Rank from, const MixReport& report);
  void measured(Rank neighbour, std::uint32_t bucket, const MixReport& report, int divisor,
                bool telling);
  [[nodiscard]] bool telling(const Message& theirs, const OpenOffer* ours) const;

  Engine& engine_;
  Edges& edges_;
  Mixer& mixer_;
  Carried& carried_;
  PayloadForms& forms_;
  Outbox& outbox_;
  Settlement& settlement_;
  Complaints& complaints_;
  PumpCounters& counters_;
  /// At most one for each open request and pull.
  using Owed =
      std::variant<action::Merge, action::Complete, action::Serve, action::Adopt, action::Absorb>;
  std::vector<Owed> owed_;
  std::map<Rank, std::string> refusals_;  ///< the first of each
  StartHash start_;
  Actions following_;  ///< the engine's, on what was found out while carrying out others
  std::vector<std::uint32_t> closed_;
  std::vector<Rank> lost_;
};

}  // namespace stencil
