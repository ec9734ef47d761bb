#include "fast/session/wait_texts.h"

#include <algorithm>

namespace fast {
namespace {

/// Whether this worker was given nobody to dial, and others can hardly know where it listens.
bool without_addresses(const SessionOptions& options) {
  return options.peers.empty() && options.peers_file.empty() && options.peer_template.empty() &&
         options.listen.ends_with(":0");
}

std::string whole_seconds(double seconds) {
  return std::to_string(static_cast<int>(seconds)) + " s";
}

}  // namespace

std::string taken_over(const stencil::PumpStatus& status) {
  if (status.joined_from != stencil::kNoRank) {
    return "took over the model of neighbour " + std::to_string(status.joined_from);
  }
  return "begins with the initial weights of rank " + std::to_string(status.initial.rank) +
         ", by way of neighbour " + std::to_string(status.initial_by);
}

std::string not_reached(const stencil::PumpStatus& status, const SessionOptions& options) {
  std::string all, missing;
  for (const auto& neighbour : status.neighbours) {
    const std::string rank = std::to_string(neighbour.rank);
    all += (all.empty() ? "" : ", ") + rank;
    if (neighbour.link == stencil::LinkState::kUp) continue;
    missing += (missing.empty() ? "" : ", ") + rank;
  }
  const std::string patience = whole_seconds(options.exchange.start_deadline);
  if (status.copying) {
    return "the copy of a neighbour's model (" + all + ") made no progress for " + patience +
           "; check the link, or raise " + options.naming("start_deadline");
  }
  if (missing == all) {
    const std::string none = "no neighbour (" + missing + ") was reached in " + patience;
    if (without_addresses(options)) {
      return none +
             ": no addresses are given, and the system has chosen this worker's port; give " +
             options.naming("peers") + ", or start the workers by fast run";
    }
    return none + "; start them, or check " + options.naming("peers") + " and " +
           options.naming("listen");
  }
  const std::string remedy =
      "; start the workers that are missing, or raise " + options.naming("start_deadline");
  const std::string lowest = "the initial weights of rank 0 did not come in " + patience +
                             "; the lowest that came are of rank " +
                             std::to_string(status.initial.rank);
  if (missing.empty()) return lowest + remedy;
  return "neighbour " + missing + " was not reached in " + patience +
         (status.initial.rank > 0 ? ", and " + lowest : "") + remedy;
}

std::string waits_for(const stencil::PumpStatus& status, const std::string& what) {
  std::string who;
  for (const auto& n : status.neighbours) {
    const bool settling =
        n.state == stencil::WorkerState::kSettled || n.state == stencil::WorkerState::kFrozen;
    if (n.link == stencil::LinkState::kLeft || (n.link == stencil::LinkState::kUp && settling)) {
      continue;
    }
    const auto state = n.link == stencil::LinkState::kUp ? name(n.state) : name(n.link);
    who += (who.empty() ? "neighbour " : ", ") + std::to_string(n.rank) + " (" +
           std::string(state) + ", step " + std::to_string(n.step) + ")";
  }
  return "waits for " + (who.empty() ? "workers beyond its neighbours" : who) + " " + what;
}

std::string overdue(const stencil::PumpStatus& status, const SessionOptions& options,
                    const std::string& what) {
  std::string who;
  for (const auto& n : status.neighbours) {
    who += (who.empty() ? "" : ", ") + std::to_string(n.rank) + " (" + std::string(name(n.link)) +
           ", step " + std::to_string(n.step) + ")";
  }
  const bool heard = std::ranges::any_of(status.neighbours, [](const auto& neighbour) {
    return neighbour.link == stencil::LinkState::kUp;
  });
  const ExchangeOptions& exchange = options.exchange;
  return "waited " + whole_seconds(heard ? exchange.busy_deadline : exchange.wait_deadline) +
         " for a neighbour " + what + ": " + who + "; check those workers, or raise " +
         options.naming(heard ? "busy_deadline" : "wait_deadline") + ", or use " +
         options.naming("mode") + " async";
}

}  // namespace fast
