#include "fast/programs/fast_main.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "fast/errors.h"
#include "fast/programs/command.h"
#include "fast/programs/completion.h"
#include "fast/programs/keys_command.h"
#include "fast/programs/replay_command.h"
#include "fast/programs/report_command.h"
#include "fast/programs/run_command.h"
#include "fast/programs/simulate_command.h"
#include "fast/programs/topology_command.h"
#include "fast/programs/train_command.h"
#include "fast/version.h"
#include "stencil/core/text.h"

namespace fast {
namespace {

using Arguments = std::vector<std::string>;

struct Command {
  const char* name;
  const char* help;
  int (*run)(const Arguments&, const Models&);
  bool prints = true;  ///< what it is for is what it prints
};

constexpr std::array<Command, 8> kCommands = {{
    {"train", "train on this machine: N workers on a grid, a summary and a report", train_command,
     false},
    {"run", "start a program of your own: one process per rank, watched, started again",
     run_command, false},
    {"topology", "show the neighbours, weights, spectral gap, cost of a sweep", topology_command},
    {"simulate", "run thousands of virtual workers under a virtual clock", simulate_command},
    {"replay", "show what a recorded worker saw and decided, and whether it decides so still",
     replay_command},
    {"report", "gather worker folders into a mean model, a summary and a page", report_command,
     false},
    {"keys", "make the keys with which workers prove their ranks", keys_command, false},
    {"completion", "print the bash completion of these commands and options", completion_command},
}};

void print_help() {
  fmt::print(
      "FAST: training on a grid of workers that exchange with their neighbours alone.\n"
      "Usage: fast COMMAND [OPTIONS]\n\nCommands:\n");
  for (const Command& command : kCommands) fmt::print("  {:<12}{}\n", command.name, command.help);
  fmt::print(
      "\n  --help, -h     show this and exit\n"
      "  --version      show the version and exit\n\n"
      "fast COMMAND --help tells more. One worker by itself, on any machine: fast-worker "
      "--help.\n\n"
      "Examples:\n"
      "  fast train --topology torus:2x2 --epochs 5 --out runs/first\n"
      "  fast run --topology torus:2x2 -- python3 train.py\n"
      "  fast topology torus:4x4\n");
}

/// Throws FileError where standard output, a full disk, has not taken all.
void check_printed() {
  std::cout.flush();
  if (std::cout && std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  throw FileError("not all could be printed", "is the disk full that the output goes to?");
}

int run(const Arguments& args, const Models& models) {
  if (args.empty() || args[0] == "--help" || args[0] == "-h" || args[0] == "help") {
    print_help();
    return 0;
  }
  if (args[0] == "--version") {
    fmt::print("fast {}\n", FAST_VERSION);
    return 0;
  }
  if (args[0] == "complete") return complete_command(args, models);
  std::vector<std::string_view> names;
  for (const Command& command : kCommands) {
    if (args[0] == command.name) {
      const int code = command.run(Arguments(args.begin() + 1, args.end()), models);
      if (code == 0 && command.prints) check_printed();
      return code;
    }
    names.emplace_back(command.name);
  }
  throw ConfigError(
      fmt::format("unknown command '{}'{}", args[0], stencil::suggestion(args[0], names)),
      "fast --help lists all commands");
}

}  // namespace

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command& command : kCommands) names.emplace_back(command.name);
  return names;
}

int fast_main(int argc, char** argv, const Models& models) {
  const Arguments args = arguments(argc, argv);
  const bool known = std::any_of(kCommands.begin(), kCommands.end(), [&](const Command& command) {
    return !args.empty() && args[0] == command.name;
  });
  return run_guarded(known ? "fast " + args[0] : "fast", [&] { return run(args, models); });
}

}  // namespace fast
