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
  std::set<std::string>& logged = logged_[who];
  if (logged.size() >= kMost || !logged.insert(cause).second) return;
  const bool last = logged.size() == kMost;
  log_(LogLevel::kWarning, name + ": " + std::string(text) + " (logged once; counted from now on" +
                               (last ? ", and so is all else of it)" : ")"));
}

}  // namespace stencil
