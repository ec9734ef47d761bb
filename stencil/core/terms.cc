#include "stencil/core/terms.h"

#include <xxhash.h>

#include <algorithm>
#include <utility>

namespace stencil {

std::string value_of(const Terms& terms, std::string_view name) {
  const auto it = std::ranges::find(terms, name, &Term::name);
  return it == terms.end() ? std::string() : it->value;
}

std::vector<TermHash> hashes_of(const Terms& terms) {
  std::vector<TermHash> hashes;
  for (const Term& term : terms) {
    hashes.push_back({term.name, XXH64(term.value.data(), term.value.size(), 0)});
  }
  return hashes;
}

std::string differing(const std::vector<TermHash>& ours, const std::vector<TermHash>& theirs) {
  for (const auto& [some, others] : {std::pair(&ours, &theirs), std::pair(&theirs, &ours)}) {
    for (const TermHash& term : *some) {
      if (std::ranges::find(*others, term) == others->end()) return term.name;
    }
  }
  return {};
}

}  // namespace stencil
