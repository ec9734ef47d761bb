#include "fast/session/wait_texts.h"

namespace fast {
namespace {

std::string whole_seconds(double seconds) {
  return std::to_string(static_cast<int>(seconds)) + " s";
}

}  // namespace

std::string not_reached(const stencil::PumpStatus& status, const SessionOptions& options) {
  std::string missing;
  for (const auto& neighbour : status.neighbours) {
    missing += (missing.empty() ? "" : ", ") + std::to_string(neighbour.rank);
  }
  const std::string patience = whole_seconds(options.exchange.start_deadline);
  if (status.copied > 0) {
    return "the copy of a neighbour's model (" + missing + ") made no progress for " + patience +
           "; check the link, or raise " + options.naming("start_deadline");
  }
  return "no neighbour (" + missing + ") was reached in " + patience + "; start them, or check " +
         options.naming("peers") + " and " + options.naming("listen");
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
