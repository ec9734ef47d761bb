#include "fast/options/environment.h"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <utility>
#include <vector>

#include "fast/options/rank.h"
#include "fast/options/session_option_fields.h"
#include "fast/options/set_option.h"
#include "stencil/core/text.h"
#include "stencil/core/topology.h"

namespace fast {
namespace {

constexpr std::string_view kPrefix = "FAST_";
/// By this one Python's package finds the library.
constexpr std::string_view kLibrary = "FAST_LIBRARY";

/// The environment as the program has it; null where it has none. A library that was loaded with
/// RTLD_DEEPBIND, as Python's package does with libfast.so, sees another `environ`, which is empty.
const char* const* whole_environment() {
  void* const program = dlopen(nullptr, RTLD_LAZY);
  if (program == nullptr) return nullptr;
  const auto* const found = static_cast<const char* const* const*>(dlsym(program, "environ"));
  dlclose(program);
  return found == nullptr ? nullptr : *found;
}

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
  std::string out(kPrefix);
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

void tell_unknown_variables(std::span<const std::string> names, const LogSink& log) {
  std::vector<std::string> known;
  const SessionOptions options;
  const auto collect = [&](const auto& field, const auto&) {
    known.push_back(environment_name(field.key).substr(kPrefix.size()));
  };
  visit_fields(options, collect);
  const std::vector<std::string_view> words(known.begin(), known.end());
  for (const std::string& name : names) {
    if (!name.starts_with(kPrefix) || name == kLibrary) continue;
    const std::string_view word = std::string_view(name).substr(kPrefix.size());
    if (std::ranges::find(words, word) != words.end()) continue;
    std::string text = "the variable " + name + " is no option's and says nothing";
    const std::string_view near = stencil::nearest(word, words);
    if (!near.empty()) text.append("; did you mean ").append(kPrefix).append(near).append("?");
    log(near.empty() ? LogLevel::kInfo : LogLevel::kWarning, text);
  }
}

void tell_unknown_variables(const LogSink& log) {
  std::vector<std::string> names;
  const char* const* variable = whole_environment();
  for (; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    names.emplace_back(text.substr(0, text.find('=')));
  }
  tell_unknown_variables(names, log);
}

SessionOptions SessionOptions::from_environment(SessionOptions defaults) {
  SessionOptions options = with_environment(std::move(defaults), read_environment, host_name());
  tell_unknown_variables(options.log);
  return options;
}

SessionOptions SessionOptions::from_environment() {
  return from_environment(SessionOptions());
}

}  // namespace fast
