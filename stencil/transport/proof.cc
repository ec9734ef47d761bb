#include "stencil/transport/proof.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "stencil/core/error.h"
#include "stencil/core/text.h"

namespace stencil {

void check_key(const PeerAddress& address, bool keys_in_use) {
  if (address.key.has_value() == keys_in_use) return;
  const std::string what = in_quotes(address.endpoint);
  if (keys_in_use) {
    throw ConfigError("no key is known for " + what, "add it to the public keys");
  }
  throw ConfigError(what + " shall prove a key, and this worker has none", "give it a key too");
}

PublicKey key_to_ask_for(const KeyRing& keys, const PublicKey& key, std::size_t attempt) {
  const std::optional<Rank> rank = keys.rank_of(key);
  if (!rank) return key;
  const std::span<const PublicKey> theirs = keys.of(*rank);
  const auto first = static_cast<std::size_t>(std::ranges::find(theirs, key) - theirs.begin());
  return theirs[(first + attempt) % theirs.size()];
}

namespace {

/// One of eight causes, by the key. A stranger with many keys can then write eight lines at most,
/// and a stranger's line seldom takes the place of the one about a worker's key.
std::string cause_of(const PublicKey& key) {
  return "unknown key " + std::to_string(key.bytes.front() % 8);
}

}  // namespace

void complain(const TransportOptions& options, Stranger why, const PublicKey& key) {
  if (!options.complain) return;
  switch (why) {
    case Stranger::kNoKey:
      return options.complain("no key",
                              "whoever dialled us without a key was refused; give it its key");
    case Stranger::kUnknownKey:
      return options.complain(cause_of(key), "whoever has key " + text(key) +
                                                 " was refused; if it is a worker of this run, "
                                                 "add it to the public keys");
    case Stranger::kWrongDial:
      return options.complain("wrong dial",
                              "whoever dialled another key than ours, " + text(key) +
                                  ", was refused; are its public keys those of this run, and is "
                                  "this the address of whom it dials?");
    case Stranger::kWantsKey:
      return options.complain("keys there alone",
                              "whoever dialled us has keys, and this worker has none; give all "
                              "workers keys, or none");
    case Stranger::kRefusesUs:
      return options.complain("our key", "whom we dialled does not know our key, " + text(key) +
                                             "; add it to the public keys there");
  }
}

void complain(const TransportOptions& options, const std::string& cause, std::string_view text) {
  if (options.complain) options.complain(cause, text);
}

}  // namespace stencil
