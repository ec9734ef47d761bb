#include "fast/options/environment.h"

#include <cctype>
#include <cstdlib>
#include <utility>
#include <vector>

#include "fast/options/rank.h"
#include "fast/options/session_option_fields.h"
#include "fast/options/set_option.h"
#include "stencil/core/topology.h"

namespace fast {
namespace {

/// A visitor of option fields that finds the variables of each.
class Finder {
 public:
  explicit Finder(const Environment& environment) : environment_(environment) {}

  /// An empty variable counts as none, as it does on a command line.
  template <typename T>
  void operator()(const stencil::OptionField<T>& field, T& value) {
    std::optional<std::string> text = environment_(environment_name(field.key));
    if (!text || text->empty()) return;
    // set_option() adds to a map; the environment replaces it.
    if constexpr (requires { typename T::mapped_type; }) value.clear();
    found_.emplace_back(field.key, *std::move(text));
  }
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& found() const {
    return found_;
  }

 private:
  const Environment& environment_;
  std::vector<std::pair<std::string, std::string>> found_;  ///< key, text
};

}  // namespace

std::optional<std::string> read_environment(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::string environment_name(std::string_view key) {
  std::string out = "FAST_";
  for (const char c : key) {
    out += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return out;
}

SessionOptions with_environment(SessionOptions options, const Environment& environment,
                                const std::string& host, bool ranked) {
  Finder finder(environment);
  visit_fields(options, finder);
  for (const auto& [key, text] : finder.found()) {
    set_option(options, key, text, environment_name);
    ranked = ranked || key == "rank";
  }
  if (ranked) return options;
  const int workers = stencil::Topology::parse(options.topology).size();
  const auto found = find_rank(environment, host, options, workers, environment_name);
  if (!found) throw no_rank(host, environment_name);
  options.rank = found->rank;
  return options;
}

SessionOptions SessionOptions::from_environment(SessionOptions defaults) {
  return with_environment(std::move(defaults), read_environment, host_name());
}

SessionOptions SessionOptions::from_environment() {
  return from_environment(SessionOptions());
}

}  // namespace fast
