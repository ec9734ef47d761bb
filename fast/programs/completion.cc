#include "fast/programs/completion.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>

#include "fast/errors.h"
#include "fast/programs/cli/options.h"
#include "fast/programs/cli/simulate_options.h"
#include "fast/programs/fast_main.h"
#include "fast/programs/keys_command.h"
#include "fast/programs/replay_command.h"
#include "fast/programs/report_command.h"
#include "fast/programs/run_command.h"
#include "fast/programs/topology_command.h"
#include "stencil/core/topologies/kinds.h"

namespace fast {
namespace {

using Choices = std::map<std::string, std::vector<std::string>>;

/// The arguments that a command takes.
struct Grammar {
  std::vector<std::string> flags;
  Choices choices;                       ///< by flag
  std::vector<std::string> positionals;  ///< their beginnings
};

Grammar grammar_of(const std::string& command, const Models& models) {
  CLI::App app;
  set_conventions(app, "");
  Grammar grammar;
  TrainConfig config = default_config(models);
  SimulateQuery simulate;
  TopologyQuery topology;
  ReplayQuery replay;
  ReportQuery report;
  KeysQuery keys;
  RunQuery run;
  if (command == "train") {
    grammar.choices = bind_options(app, config, OptionSet::kTrain, models);
  } else if (command == "run") {
    grammar.choices = bind_run_options(app, run);
  } else if (command == "simulate") {
    grammar.choices = bind_simulate_options(app, simulate);
    grammar.positionals = stencil::topology_choices();
  } else if (command == "topology") {
    bind_topology_options(app, topology);
    CLI::App same;  // options of the same names take the same values
    grammar.choices = bind_options(same, config, OptionSet::kTrain, models);
    grammar.positionals = stencil::topology_choices();
  } else if (command == "replay") {
    bind_replay_options(app, replay);
  } else if (command == "report") {
    bind_report_options(app, report);
  } else if (command == "keys") {
    bind_keys_options(app, keys);
  }
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) grammar.flags.push_back("--" + name);
  }
  return grammar;
}

}  // namespace

std::vector<std::string> complete(const std::vector<std::string>& words, const Models& models) {
  // Behind "--" stands another program's command line.
  if (words.empty() || std::find(words.begin(), words.end() - 1, "--") != words.end() - 1)
    return {};
  const std::string& word = words.back();
  std::vector<std::string> candidates;
  if (words.size() == 1) {
    candidates = command_names();
  } else {
    const Grammar grammar = grammar_of(words.front(), models);
    const auto choices = grammar.choices.find(words[words.size() - 2]);
    if (word.starts_with("-")) {
      candidates = grammar.flags;
    } else if (choices != grammar.choices.end()) {
      candidates = choices->second;
    } else {
      candidates = grammar.positionals;
    }
  }
  std::erase_if(candidates, [&](const std::string& one) { return !one.starts_with(word); });
  return candidates;
}

int completion_command(const std::vector<std::string>& args, const Models& /*models*/) {
  CLI::App app("Prints what makes bash complete the options of fast: add it to ~/.bashrc.",
               "fast completion");
  set_conventions(app, "Example:\n  eval \"$(fast completion)\"");
  if (const auto code = parse_arguments(app, args)) return *code;
  fmt::print("complete -o default -o nospace -C 'fast complete' fast\n");
  return 0;
}

int complete_command(const std::vector<std::string>& /*args*/, const Models& models) {
  const char* const line = std::getenv("COMP_LINE");
  if (line == nullptr) {
    throw ConfigError("fast complete is asked by bash alone", "see fast completion --help");
  }
  std::string text = line;
  if (const char* const point = std::getenv("COMP_POINT")) {
    text.resize(std::min(text.size(), static_cast<std::size_t>(std::atoi(point))));
  }
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  if (!words.empty()) words.erase(words.begin());
  if (text.ends_with(' ')) words.emplace_back();
  // Bash treats the part after a colon as a word of its own and expects only that part.
  const std::string& word = words.empty() ? text : words.back();
  const auto colon = word.rfind(':');
  for (const std::string& one : complete(words, models)) {
    fmt::print("{}\n", colon == std::string::npos ? one : one.substr(colon + 1));
  }
  return 0;
}

}  // namespace fast
