#pragma once

#include <string>

#include "fast/options/session_options.h"

namespace fast {

/// What an address without a scheme begins with.
[[nodiscard]] std::string usual_scheme(const SessionOptions& options);

/// Throws ConfigError for an address of a peer that could not be dialled whatever the network does.
/// Files of addresses are not looked at: they may still be written.
void check_addresses(const SessionOptions& options);

}  // namespace fast
