#pragma once

#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace stencil {

/// Bounds of a number. They are included unless `above` and `below` say otherwise; a NaN is never
/// within them.
struct Range {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool above = false, below = false;  ///< `least` and `most` themselves are not allowed

  [[nodiscard]] constexpr bool contains(double value) const {
    return (above ? value > least : value >= least) && (below ? value < most : value <= most);
  }
};

/// Ranges of finite numbers that several options have.
inline constexpr double kFinite = std::numeric_limits<double>::max();
inline constexpr Range kPositive{.least = 0, .most = kFinite, .above = true};
inline constexpr Range kNotNegative{.least = 0, .most = kFinite};

/// Everything known about one option except its value. Command line, configuration file,
/// environment, summaries and the comparison's cells are derived from it. A struct of options has a
/// function
///
///     template <typename Options, typename Visitor>
///     void visit_fields(Options& options, Visitor& visit);
///
/// that calls visit(OptionField, value) for each field. It is the only list of them. To add an
/// option, add the field, a line in that function, its use and its test.
template <typename T>
struct OptionField {
  std::string_view key;        ///< the field's name, e.g. phase_lock for --phase-lock
  std::string_view unit = {};  ///< what its value is called in help texts; empty for a switch
  std::string help = {};
  Range range = {};                                ///< of a number
  std::function<void(const T& value)> check = {};  ///< for other values; throws ConfigError
  std::string_view remedy = {};                    ///< what to use instead of a value out of range
  T example = {};                                  ///< a valid value, not the default
  /// What runs did before this option existed. Records that do not name the option mean this value.
  T before = {};
  bool simulated = true;                  ///< the simulator uses it
  std::vector<std::string> choices = {};  ///< how values begin, for completion
  std::string_view also = {};             ///< another spelling on the command line: "-m", "--lr"
};

/// How a message calls an option: by the name that its reader knows.
using OptionNaming = std::string (*)(std::string_view key);
/// "phase_lock", as in a program. Inline, since it is a default in headers whose users link no
/// library below fast::session.
[[nodiscard]] inline std::string as_field(std::string_view key) {
  return std::string(key);
}
/// "--phase-lock", as on a command line.
[[nodiscard]] std::string as_flag(std::string_view key);

}  // namespace stencil
