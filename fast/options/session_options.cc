#include "fast/options/session_options.h"

#include <unistd.h>

#include <algorithm>

#include "fast/errors.h"
#include "fast/options/addresses.h"
#include "fast/options/mean_names.h"
#include "fast/options/peers.h"
#include "fast/options/security.h"
#include "fast/options/session_option_fields.h"
#include "stencil/core/mode.h"
#include "stencil/core/option_checks.h"
#include "stencil/core/option_text.h"
#include "stencil/core/text.h"
#include "stencil/core/topology.h"
#include "stencil/transport/inproc/inproc_network.h"

namespace fast {
namespace {

constexpr std::size_t kMostRunId = 256;

bool is_control(unsigned char c) {
  return c < 0x20 || c == 0x7f;
}

void check_aim(const SessionOptions& options) {
  const std::string epochs = options.naming("epochs"), budget = options.naming("budget");
  stencil::OptionChecks{options.naming}(session_fields::epochs(), options.epochs);
  if (options.epochs == 0) return;
  if (options.budget > 0) {
    throw ConfigError("both " + epochs + " and " + budget + " say when training is over",
                      "give one of them");
  }
  if (options.data_size == 0) {
    throw ConfigError(
        epochs + " " + stencil::option_text(options.epochs) + " of how many examples?",
        "give " + options.naming("data_size"));
  }
  if (stencil::Mode::parse(options.exchange.mode).kind == stencil::Mode::Kind::kSync) {
    throw ConfigError("in mode sync all workers take the same number of steps, which " + epochs +
                          " of examples that others hold does not tell",
                      "give " + budget + " instead");
  }
}

}  // namespace

void log_to_stderr(LogLevel level, std::string_view line) {
  if (level != LogLevel::kWarning && level != LogLevel::kError) return;
  std::string text = level == LogLevel::kError ? "fast: error: " : "fast: warning: ";
  text.append(line).push_back('\n');
  // One call, so that lines of several threads do not mix. Nobody can be told where it fails.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

int SessionOptions::workers() const {
  return stencil::Topology::parse(topology).size();
}

void SessionOptions::validate(int ranks) const {
  if (rank < 0 || rank >= ranks) {
    throw ConfigError("rank " + std::to_string(rank) + " is outside " + topology,
                      "use 0 to " + std::to_string(ranks - 1));
  }
  if (run_id.empty() || run_id.size() > kMostRunId || std::ranges::any_of(run_id, is_control)) {
    throw ConfigError("the run id " + stencil::in_quotes(run_id) + " is empty, longer than " +
                          std::to_string(kMostRunId) + " bytes or holds control characters",
                      "name the run in a few letters, the same at every worker");
  }
  for (const auto& [peer, endpoint] : peers) {
    if (peer >= 0 && peer < ranks) continue;
    throw ConfigError(naming("peers") + " has rank " + std::to_string(peer) + ", and " + topology +
                          " has ranks 0 to " + std::to_string(ranks - 1),
                      "name ranks of this topology");
  }
  check_peer_template(peer_template);
  exchange.validate(naming);
  check_addresses(*this);
  check_aim(*this);
  (void)mean_names(means, naming("means"));
  check_security(*this, naming);
}

std::shared_ptr<InprocNetwork> make_inproc_network() {
  return std::make_shared<InprocNetwork>();
}

}  // namespace fast
