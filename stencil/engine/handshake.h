#pragma once

#include <optional>
#include <string>

#include "stencil/engine/offer_exchange.h"
#include "stencil/engine/self.h"

namespace stencil {

/// Why this worker must not exchange with whoever said `theirs`, naming both sides' values where
/// both are known; nothing when it may.
[[nodiscard]] std::optional<std::string> mismatch(const EngineConfig& ours, const Hello& theirs);

/// What that one is told; as it sees the two of us.
[[nodiscard]] Refusal refusal(const EngineConfig& ours, const Hello& theirs);

/// A refusal of theirs in words: where it is about a term, both sides' values of it.
[[nodiscard]] std::string in_words(const EngineConfig& ours, const Refusal& theirs);

/// Who is at the other end of an edge, which of its lives, and where both ends' sequence numbers
/// stand, see Life. Keeps true:
///
///  1. Nothing is exchanged with a worker of another run, topology, model, mode or codec.
///  2. A frame counts only when it carries both ends' present epochs; but a good-bye only needs
///     the sender's.
///  3. Counters of a Hello are acted on once for each pair of epochs, by both ends.
///  4. Another life of a neighbour ends all that was under way with the one before.
///  5. Which life is the later one, generations tell, and no clock. Whoever is taken for older is
///     told, and greets again above what is known: nobody is passed over in silence.
///  6. While a neighbour's present life is up and is heard, no other process takes its place.
///
/// One thread.
class Handshake {
 public:
  Handshake(Self& self, OfferExchange& exchange) : self_(self), exchange_(exchange) {}

  /// A neighbour of a new edge: its first epoch differs from those of this worker's other lives.
  void add(TimePoint now, Neighbour& neighbour) const;

  /// The edge is begun anew: a new link, a gap, a reply that does not come.
  void begin(TimePoint now, Neighbour& neighbour, Actions& out);
  /// We are a newcomer again: all that was under way is over, at both ends.
  void start_over(TimePoint now, Neighbour& neighbour, Actions& out);
  /// They were given up: should they come back, both ends begin as if anew.
  void give_up(Neighbour& neighbour);

  enum class Heard : std::uint8_t {
    kNothing,       ///< that counts for the neighbour's present life
    kAgain,         ///< what was known
    kSynchronised,  ///< the edge is up as of now
  };
  [[nodiscard]] Heard on_hello(TimePoint now, Neighbour& neighbour, const Message& message,
                               Actions& out);
  void on_hello_request(TimePoint now, Neighbour& neighbour, const HelloRequest& request,
                        Actions& out);
  void on_refusal(TimePoint now, Neighbour& neighbour, const Refusal& refusal, Actions& out);
  /// Why `hello` cannot be of this neighbour: another living process is; nothing where it may.
  [[nodiscard]] std::optional<Refusal> taken(TimePoint now, const Neighbour& neighbour,
                                             const Hello& hello) const;
  void on_leave(Neighbour& neighbour, const MessageHeader& header);
  /// We say good-bye to them.
  void leave(TimePoint now, Neighbour& neighbour, Actions& out);
  /// Whether a message that is no Hello is of the present connection; counts those that are not.
  [[nodiscard]] bool admits(const Neighbour& neighbour, const Message& message);

  /// Says Hello again to whoever has not answered.
  void repeat(TimePoint now, Neighbour& neighbour, Actions& out);
  /// When repeat() has something to do, for a neighbour with a link that has not answered.
  [[nodiscard]] TimePoint repeat_at(const Neighbour& neighbour) const;

 private:
  void end(Neighbour& neighbour);
  void say_hello(TimePoint now, Neighbour& neighbour, Actions& out);
  bool take_life(TimePoint now, Neighbour& neighbour, const Message& message, Actions& out);
  bool take_epoch(Neighbour& neighbour, std::uint32_t epoch);
  void refuse(TimePoint now, Neighbour& neighbour, const Hello& theirs, std::string why,
              Actions& out);

  Self& self_;
  OfferExchange& exchange_;
};

}  // namespace stencil
