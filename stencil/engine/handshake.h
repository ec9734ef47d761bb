#pragma once

#include <optional>
#include <string>

#include "stencil/engine/offer_exchange.h"
#include "stencil/engine/self.h"

namespace stencil {

/// Why this worker must not exchange with the sender of `theirs`, naming both sides' values where
/// both are known; nothing when it may.
[[nodiscard]] std::optional<std::string> mismatch(const EngineConfig& ours, const Hello& theirs);

/// The refusal sent to that worker, worded from its side. A worker of another run, and one that has
/// not proven its rank, may be a stranger: it learns what differs, but no value of ours.
[[nodiscard]] Refusal refusal(const EngineConfig& ours, const Hello& theirs);
/// What is sent back where a refusal is about a term: our value, but not to a stranger.
[[nodiscard]] Refusal answer_to(const EngineConfig& ours, const Refusal& theirs);

/// A refusal of theirs as a text. Where it is about a term, the text names both sides' values, as
/// far as they are told.
[[nodiscard]] std::string in_words(const EngineConfig& ours, const Refusal& theirs);

/// Establishes which worker is at the other end of an edge, which of its lives, and both ends'
/// sequence numbers; see Life. Invariants:
///
///  1. Nothing is exchanged with a worker of another run, topology, model, mode or codec.
///  2. A frame counts only when it carries both ends' present epochs; a Leave needs only the
///     sender's.
///  3. Counters of a Hello are acted on once for each pair of epochs, by both ends.
///  4. Another life of a neighbour ends all exchanges with the life before.
///  5. Generations, not clocks, decide which life is the later one. A life that is taken for an
///     older one is told so, and greets again with a higher generation: no Hello is ignored in
///     silence.
///  6. While a neighbour's present life is up and sends, no other process takes its place.
///
/// One thread.
class Handshake {
 public:
  Handshake(Self& self, OfferExchange& exchange) : self_(self), exchange_(exchange) {}

  /// Prepares a new edge. Its first epoch differs from those of this worker's other lives.
  void add(TimePoint now, Neighbour& neighbour) const;

  /// Synchronises the edge anew: after a new link, a gap, or a missing reply.
  void synchronise(TimePoint now, Neighbour& neighbour, Actions& out);
  /// Tells all neighbours that have been greeted what Hello says now.
  void announce(TimePoint now, Actions& out);
  /// We are a newcomer again: ends all exchanges, at both ends.
  void start_over(TimePoint now, Neighbour& neighbour, Actions& out);
  /// They were given up. Should they come back, both ends begin from scratch.
  void give_up(Neighbour& neighbour);

  enum class Heard : std::uint8_t {
    kNothing,       ///< no Hello of the neighbour's present life
    kAgain,         ///< what was known
    kSynchronised,  ///< the edge is now up
  };
  [[nodiscard]] Heard on_hello(TimePoint now, Neighbour& neighbour, const Message& message,
                               Actions& out);
  void on_hello_request(TimePoint now, Neighbour& neighbour, const HelloRequest& request,
                        Actions& out);
  void on_refusal(TimePoint now, Neighbour& neighbour, const Refusal& refusal, Actions& out);
  /// The refusal of `hello` where another living process has this neighbour's rank; nothing where
  /// none has.
  [[nodiscard]] std::optional<Refusal> taken(TimePoint now, const Neighbour& neighbour,
                                             const Hello& hello) const;
  void on_leave(Neighbour& neighbour, const MessageHeader& header);
  /// Sends them a Leave.
  void leave(TimePoint now, Neighbour& neighbour, Leave how, Actions& out);
  /// Whether a message, of a kind that has no function above, belongs to the present connection;
  /// counts those that do not.
  [[nodiscard]] bool admits(const Neighbour& neighbour, const Message& message);

  /// Sends Hello again to a neighbour that has not answered.
  void repeat(TimePoint now, Neighbour& neighbour, Actions& out);
  /// When repeat() has something to do, for a neighbour with a link that has not answered.
  [[nodiscard]] TimePoint repeat_at(const Neighbour& neighbour) const;

 private:
  void end(Neighbour& neighbour);
  /// What greeted before counts no more.
  void begin_epoch(Neighbour& neighbour) const;
  /// Ours or theirs: Hellos tell of our progress of now until one of them changes again.
  void epochs_changed(Neighbour& neighbour) const;
  void say_hello(TimePoint now, Neighbour& neighbour, Actions& out);
  bool take_life(TimePoint now, Neighbour& neighbour, const Message& message, Actions& out);
  bool take_epoch(Neighbour& neighbour, std::uint32_t epoch);
  void refuse(TimePoint now, Neighbour& neighbour, const Hello& theirs, std::string why,
              Actions& out);

  Self& self_;
  OfferExchange& exchange_;
};

}  // namespace stencil
