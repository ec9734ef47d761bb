#include "fast/options/security.h"

#include <arpa/inet.h>

#include <string>

#include "fast/errors.h"
#include "stencil/core/text.h"

namespace fast {
namespace {

bool is_loopback(const std::string& host) {
  in_addr four{};
  if (::inet_pton(AF_INET, host.c_str(), &four) == 1) return ntohl(four.s_addr) >> 24 == 127;
  in6_addr six{};
  if (::inet_pton(AF_INET6, host.c_str(), &six) != 1) return host == "localhost";
  const bool mapped = IN6_IS_ADDR_V4MAPPED(&six) && six.s6_addr[12] == 127;
  return mapped || IN6_IS_ADDR_LOOPBACK(&six);
}

}  // namespace

bool takes_run_keys(const SessionOptions& options) {
  return options.keys.empty() && options.key.empty() && !options.insecure;
}

std::optional<KeyFiles> key_files(const SessionOptions& options) {
  if (!options.keys.empty()) return KeyFiles::in_folder(options.keys, options.rank);
  if (!options.key.empty()) return KeyFiles{options.key, options.public_keys};
  if (options.run_keys.empty() || !takes_run_keys(options)) return std::nullopt;
  return KeyFiles::in_folder(options.run_keys, options.rank);
}

bool beyond_loopback(std::string_view endpoint) {
  if (endpoint.empty() || endpoint.starts_with("ipc://") || endpoint.starts_with("zmq+ipc://") ||
      endpoint.starts_with("inproc://")) {
    return false;
  }
  if (const auto scheme = endpoint.find("://"); scheme != std::string_view::npos) {
    endpoint.remove_prefix(scheme + 3);
  }
  std::string_view host = endpoint.substr(0, endpoint.rfind(':'));
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return !is_loopback(std::string(host));
}

void check_security(const SessionOptions& options, stencil::OptionNaming naming) {
  const std::string keys = naming("keys"), key = naming("key"), open = naming("public_keys");
  if (options.key.empty() != options.public_keys.empty()) {
    throw ConfigError(
        options.key.empty() ? open + " is given without " + key : key + " is given without " + open,
        "give both, or " + keys + " for a folder that holds both");
  }
  if (!options.keys.empty() && !options.key.empty()) {
    throw ConfigError(keys + " and " + key + " are both given", "give one of them");
  }
  if (key_files(options)) return;
  if (!options.insecure && beyond_loopback(options.listen)) {
    throw ConfigError("anyone who reaches " + stencil::in_quotes(options.listen) +
                          " could read and change the models, as no keys are in use",
                      "give " + keys + " ('fast keys' makes them), or " + naming("insecure") +
                          " on a network that you trust");
  }
}

}  // namespace fast
