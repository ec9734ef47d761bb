#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fast {

/// The names in a list such as "accuracy,val_loss", sorted; see Session::mean(). `option` is what
/// messages call the list. Throws ConfigError for an empty name, one that comes twice, and too
/// many.
[[nodiscard]] std::vector<std::string> mean_names(std::string_view list, const std::string& option);

}  // namespace fast
