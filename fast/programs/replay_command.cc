#include "fast/programs/replay_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <span>
#include <vector>

#include "fast/errors.h"
#include "fast/programs/cli/options.h"
#include "stencil/runtime/replay.h"

namespace fast {
namespace {

constexpr char kReplayExamples[] = R"(Examples:
  A simulated worker, recorded and played again:
    fast simulate ring:16 --break 3-4:1-3 --record 3:worker-3.journal
    fast replay worker-3.journal
  Its edge to rank 4 alone:
    fast replay worker-3.journal --edge 4)";

std::vector<char> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::vector<char> bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (in.bad() || !in.is_open()) {
    throw FileError("cannot read " + path, "name a file that --record has written");
  }
  return bytes;
}

std::string edge_text(stencil::Rank rank) {
  return rank == stencil::kNoRank ? "-" : fmt::format("{}", rank);
}

/// Prints one input and what was decided on it.
class Lines {
 public:
  explicit Lines(const ReplayQuery& query) : query_(query) {}

  void operator()(const stencil::Replayed& replayed) const {
    const bool wanted = !query_.quiet && (query_.edge < 0 || concerns(replayed));
    if (!wanted && replayed.same) return;
    const std::chrono::duration<double> at = replayed.at;
    fmt::print("{:>8} {:>12.6f}  {:>5}  {}{}\n", replayed.number, at.count(),
               edge_text(stencil::edge_of(replayed.input)), stencil::in_words(replayed.input),
               replayed.same ? "" : "  DECIDED OTHERWISE than recorded:");
    for (const stencil::Action& action : replayed.decided) {
      const stencil::Rank edge = stencil::edge_of(action);
      if (query_.edge >= 0 && edge != query_.edge && replayed.same) continue;
      fmt::print("{:>21}  {:>5}    {}\n", "", edge_text(edge), stencil::in_words(action));
    }
  }

 private:
  [[nodiscard]] bool concerns(const stencil::Replayed& replayed) const {
    return stencil::edge_of(replayed.input) == query_.edge ||
           std::any_of(replayed.decided.begin(), replayed.decided.end(),
                       [&](const stencil::Action& action) {
                         return stencil::edge_of(action) == query_.edge;
                       });
  }

  const ReplayQuery& query_;
};

}  // namespace

void bind_replay_options(CLI::App& app, ReplayQuery& query) {
  app.add_option("file", query.file, "a recording")->type_name("FILE")->required();
  app.add_option("--edge", query.edge, "show the edge to this neighbour alone")
      ->type_name("RANK")
      ->check(CLI::NonNegativeNumber);
  app.add_flag("-q,--quiet", query.quiet, "show nothing but what is decided otherwise");
}

int replay_command(const std::vector<std::string>& args, const Models&) {
  ReplayQuery query;
  CLI::App app("Plays a recorded worker again: what its engine saw and decided.", "fast replay");
  set_conventions(app, kReplayExamples);
  bind_replay_options(app, query);
  if (const auto code = parse_arguments(app, args)) return *code;
  const std::vector<char> file = read_file(query.file);
  if (!query.quiet) {
    fmt::print("{:>8} {:>12}  {:>5}  {}\n", "input", "seconds", "edge", "seen, and decided");
  }
  stencil::Result<stencil::Replay> replayed =
      stencil::replay(std::as_bytes(std::span(file)), Lines(query));
  if (!replayed) {
    throw FileError(query.file + ": " + replayed.error().text,
                    "name a file that --record of this version has written");
  }
  const std::string decided =
      replayed->other == 0
          ? "all decided as recorded"
          : fmt::format("DECIDED OTHERWISE than recorded on input {}", replayed->other);
  const std::string failed =
      replayed->failure.empty() ? "" : "; on the last an invariant failed: " + replayed->failure;
  fmt::print("worker {}: {} inputs, {}{}{}\n", replayed->rank, replayed->inputs, decided, failed,
             replayed->cut ? "; the last record is cut off" : "");
  return replayed->other == 0 ? 0 : 1;
}

}  // namespace fast
