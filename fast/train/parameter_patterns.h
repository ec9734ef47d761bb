#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fast {

/// Patterns of parameters' names: as a shell's of files, but `*` takes dots, too. A name that has
/// no
/// `*`, `?` or `[` stands for itself.

/// "a.*,b" as a list. Throws ConfigError, naming `option`, where one is empty.
[[nodiscard]] std::vector<std::string> patterns_in(std::string_view list, std::string_view option);

/// "a.*=0.1,b=2".
struct RateOf {
  std::string pattern;
  double factor = 1;
};
/// Throws ConfigError where one is no pattern with a factor above 0.
[[nodiscard]] std::vector<RateOf> rates_in(std::string_view list);

[[nodiscard]] bool fits(const std::string& pattern, const std::string& name);

/// Throws ConfigError, naming option and pattern, where it fits none of these names.
void check_fits(std::string_view option, const std::string& pattern,
                std::span<const std::string> names);

}  // namespace fast
