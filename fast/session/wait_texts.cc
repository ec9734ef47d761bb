#include "fast/session/wait_texts.h"

namespace fast {
namespace {

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
    return "no neighbour (" + missing + ") was reached in " + patience + "; start them, or check " +
           options.naming("peers") + " and " + options.naming("listen");
  }
  const std::string remedy =
      "; start the workers that are missing, or raise " + options.naming("start_deadline");
  if (!missing.empty()) return "neighbour " + missing + " was not reached in " + patience + remedy;
  return "the initial weights of rank 0 did not come in " + patience +
         "; the lowest that came are of rank " + std::to_string(status.initial.rank) + remedy;
}

std::string overdue(const stencil::PumpStatus& status, const SessionOptions& options,
                    const std::string& what) {
  std::string who;
  for (const auto& n : status.neighbours) {
    who += (who.empty() ? "" : ", ") + std::to_string(n.rank) + " (" + std::string(name(n.link)) +
           ", step " + std::to_string(n.step) + ")";
  }
  return "waited " + whole_seconds(options.exchange.wait_deadline) + " for a neighbour " + what +
         ": " + who + "; check those workers, or raise " + options.naming("wait_deadline") +
         ", or use " + options.naming("mode") + " async";
}

}  // namespace fast
