#include "stencil/runtime/reception.h"

#include <string>
#include <utility>

#include "stencil/wire/wire.h"

namespace stencil {

Reception::Reception(bool keys, Engine& engine, LinkBook& links, Transport& transport,
                     Complaints& complaints, PumpCounters& counters)
    : keys_(keys),
      engine_(engine),
      links_(links),
      transport_(transport),
      complaints_(complaints),
      counters_(counters) {}

void Reception::answer(LinkId link, Rank to, MessageBody body) {
  (void)transport_.send(link, encode_frame(engine_.message(to, std::move(body))));
}

void Reception::turn_away(LinkId link, const Message& message) {
  ++counters_.unknown_senders;
  const std::string claimed = "rank " + std::to_string(message.header.from);
  if (const Hello* const hello = message.as<Hello>()) {
    const EngineConfig& config = engine_.config();
    const std::string us = " of rank " + std::to_string(config.rank) + " in " + config.topology;
    const bool told = config.proven && hello->run_id == config.hello.run_id;
    answer(link, kNoRank,
           Refusal{claimed + " is no neighbour" + (told ? us : "") +
                   "; check the rank and the peer's address"});
  }
  complaints_.about_stranger(claimed, claimed + " is no neighbour of ours");
}

bool Reception::may_speak_for(Rank rank, std::optional<Rank> proven) {
  if (!keys_ || proven == rank) return true;
  ++counters_.unproven;
  const std::string who = "who speaks for rank " + std::to_string(rank);
  if (!proven) {
    complaints_.about_stranger(
        "no key " + who, who + " has proven no key of this run; give it rank " +
                             std::to_string(rank) + "'s key, or add its own to the public keys");
  } else {
    complaints_.about_stranger("key of " + std::to_string(*proven) + " " + who,
                               who + " has rank " + std::to_string(*proven) +
                                   "'s key; start each worker with the key of its own rank");
  }
  return false;
}

bool Reception::may_send(LinkId link, const Message& message, std::optional<Rank> proven) {
  const Rank claimed = message.header.from;
  if (may_speak_for(claimed, proven)) return true;
  if (proven && message.is<Hello>()) {
    answer(link, kNoRank,
           Refusal{"rank " + std::to_string(claimed) + " was said with rank " +
                   std::to_string(*proven) +
                   "'s key; start each worker with the key of its own rank"});
  }
  return false;
}

void Reception::differs(const std::string& cause, const std::string& text) {
  complaints_.about_stranger(cause, text);
  if (turned_away_.empty()) turned_away_ = text;
}

/// A neighbour that refuses us does so on the link that it refuses, which serves no edge. So this
/// may come from anybody.
void Reception::refused(LinkId link, const Neighbour& by, const Refusal& refusal,
                        const std::string& claim) {
  const EngineConfig& config = engine_.config();
  if (!refusal.term.empty() && !refusal.answer) {
    answer(link, by.rank, answer_to(config, refusal));
  }
  differs("refusal " + claim, claim + "refused on another link: " + in_words(config, refusal));
}

Edge* Reception::hear(TimePoint now, LinkId link, const Message& message) {
  const Rank from = message.header.from;
  Edge* const edge = links_.find(from);
  if (edge == nullptr) {
    turn_away(link, message);
    return nullptr;
  }
  const std::string claim = "who says it is rank " + std::to_string(from) + ": ";
  if (const Refusal* refusal = message.as<Refusal>()) {
    refused(link, edge->neighbour, *refusal, claim);
    return nullptr;
  }
  const Hello* const hello = message.as<Hello>();
  if (hello == nullptr) {
    if (!message.is<HelloRequest>()) answer(link, from, HelloRequest{});
    return nullptr;
  }
  const EngineConfig& config = engine_.config();
  if (const auto why = mismatch(config, *hello)) {
    const Refusal said = refusal(config, *hello);
    answer(link, from, said);
    // Their value of a term is not known yet: it comes with their answer.
    if (said.term.empty()) differs("mismatch " + claim, claim + *why);
    return nullptr;
  }
  if (const auto taken = engine_.taken(now, edge->neighbour, *hello)) {
    answer(link, from, *taken);
    complaints_.about_stranger("taken " + claim, claim + "refused: " + taken->text);
    return nullptr;
  }
  return links_.accept(link, *edge) ? edge : nullptr;
}

}  // namespace stencil
