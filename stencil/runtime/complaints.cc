#include "stencil/runtime/complaints.h"

namespace stencil {

void Complaints::about(Rank neighbour, const std::string& cause, std::string_view text) {
  say(neighbour, "neighbour " + std::to_string(neighbour), cause, text);
}

void Complaints::about_stranger(const std::string& cause, std::string_view text) {
  say(kNoRank, "a stranger", cause, text);
}

void Complaints::say(Rank who, const std::string& name, const std::string& cause,
                     std::string_view text) {
  std::set<std::string>& said = said_[who];
  if (said.size() >= kMost || !said.insert(cause).second) return;
  const bool last = said.size() == kMost;
  log_(LogLevel::kWarning, name + ": " + std::string(text) + " (logged once; counted from now on" +
                               (last ? ", and so is all else of it)" : ")"));
}

}  // namespace stencil
