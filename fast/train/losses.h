#pragma once

#include <array>
#include <string_view>

namespace fast {

/// The losses that there are beside "script:FILE", one of the user's own; the first is the usual
/// one, for labels, and the only one of the models for images.
inline constexpr std::array<std::string_view, 4> kLosses = {"cross_entropy", "mse", "l1", "bce"};

/// Throws ConfigError for a name that is none. Files are not looked for.
void check_loss(std::string_view name);

}  // namespace fast
