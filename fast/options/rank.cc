#include "fast/options/rank.h"

#include <unistd.h>

#include <array>
#include <charconv>
#include <string_view>

#include "fast/options/peers.h"

namespace fast {
namespace {

std::optional<int> number(std::string_view text) {
  int value = -1;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

struct Launcher {
  const char* rank;
  const char* size;  ///< null: the launcher has none
  bool needs_size;   ///< the variable of its rank is too common to be trusted alone
};

// mpirun, PMIx, PMI, Slurm, torchrun, Kubernetes.
constexpr Launcher kLaunchers[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", false},
                                   {"PMIX_RANK", nullptr, false},
                                   {"PMI_RANK", "PMI_SIZE", false},
                                   {"SLURM_PROCID", "SLURM_NTASKS", false},
                                   {"RANK", "WORLD_SIZE", true},
                                   {"JOB_COMPLETION_INDEX", nullptr, false}};

void check_size(const Environment& environment, const Launcher& launcher, int workers) {
  if (launcher.size == nullptr) return;
  const std::optional<std::string> text = environment(launcher.size);
  if (!text || number(*text) == workers) return;
  throw ConfigError(*text + " processes were started (" + launcher.size +
                        "), but the topology has " + std::to_string(workers) + " workers",
                    "start " + std::to_string(workers) + ", or choose a topology of " + *text);
}

std::optional<FoundRank> rank_of_launcher(const Environment& environment, int workers,
                                          stencil::OptionNaming naming) {
  for (const Launcher& launcher : kLaunchers) {
    const std::optional<std::string> text = environment(launcher.rank);
    if (!text || (launcher.needs_size && !environment(launcher.size))) continue;
    const std::optional<int> rank = number(*text);
    if (!rank) {
      throw ConfigError(std::string(launcher.rank) + "=" + *text + " is no rank",
                        "give " + naming("rank"));
    }
    check_size(environment, launcher, workers);
    return FoundRank{*rank, launcher.rank};
  }
  return std::nullopt;
}

std::string first_label(std::string_view host) {
  return std::string(host.substr(0, host.find('.')));
}

/// The first label of the host in "tcp://HOST:PORT".
std::string label_of(std::string_view endpoint) {
  const auto scheme = endpoint.find("://");
  if (scheme != std::string_view::npos) endpoint.remove_prefix(scheme + 3);
  return first_label(endpoint.substr(0, endpoint.rfind(':')));
}

/// Whether some peer is called NAME-K for its rank K.
bool is_set(const std::string& name, const SessionOptions& session, int workers) {
  const Peers peers(session.peers, session.peers_file, session.peer_template);
  for (int rank = 0; rank < workers; ++rank) {
    const std::optional<std::string> endpoint = peers.find(rank);
    if (endpoint && label_of(*endpoint) == name + "-" + std::to_string(rank)) return true;
  }
  return false;
}

std::optional<FoundRank> rank_of_host(const std::string& host, const SessionOptions& session,
                                      int workers) {
  const std::string label = first_label(host);
  const auto dash = label.rfind('-');
  if (dash == std::string::npos) return std::nullopt;
  const std::optional<int> rank = number(std::string_view(label).substr(dash + 1));
  if (!rank || !is_set(label.substr(0, dash), session, workers)) return std::nullopt;
  return FoundRank{*rank, "the host's name, " + host};
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::optional<FoundRank> find_rank(const Environment& environment, const std::string& host,
                                   const SessionOptions& session, int workers,
                                   stencil::OptionNaming naming) {
  if (auto found = rank_of_launcher(environment, workers, naming)) return found;
  if (auto found = rank_of_host(host, session, workers)) return found;
  if (workers == 1) return FoundRank{0, ""};
  return std::nullopt;
}

std::string rank_variables() {
  std::string variables;
  for (const Launcher& launcher : kLaunchers) {
    variables += (variables.empty() ? "" : ", ") + std::string(launcher.rank);
    if (launcher.needs_size) variables += " beside " + std::string(launcher.size);
  }
  return variables;
}

ConfigError no_rank(const std::string& host, stencil::OptionNaming naming) {
  return ConfigError("no rank: no launcher gives one (" + rank_variables() +
                         "), and the host's name, '" + host +
                         "', is not that of a set, NAME-N with peers NAME-K",
                     "give " + naming("rank"));
}

}  // namespace fast
