#include "fast/programs/run_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <utility>

#include "fast/errors.h"
#include "fast/options/environment.h"
#include "fast/programs/cli/option_binder.h"
#include "fast/programs/cli/option_table.h"
#include "fast/programs/cli/options.h"
#include "fast/programs/cores.h"
#include "fast/programs/launch/descriptors.h"
#include "fast/programs/launch/launcher.h"
#include "fast/programs/launch/loopback.h"
#include "fast/programs/launch/prefixed_lines.h"
#include "fast/programs/launch/run_keys.h"
#include "fast/programs/launch/run_preparation.h"
#include "fast/programs/launch/signals.h"
#include "fast/programs/report_command.h"
#include "fast/run/atomic_file.h"
#include "fast/run/run_folder.h"

namespace fast {
namespace {

namespace fs = std::filesystem;
using Variables = std::map<std::string, std::string>;

constexpr char kRunExamples[] =
    R"(Each process has FAST_TOPOLOGY, FAST_RANK, FAST_LISTEN, FAST_PEER, FAST_RUN_ID and FAST_RUN_KEYS, and with
a folder FAST_OUT, FAST_CHECKPOINT and FAST_RESUME. SessionOptions::from_environment() in C++ and
fast_set_from_environment() in C read them; so does fast-worker. Every other option of a session is a
variable of the same kind, which fast run passes on: FAST_CODEC=int8 fast run ...
What the processes write, to stdout and stderr, comes line by line, "[2] ..." from rank 2. Ctrl-C and
SIGTERM go to each process and all that it has started; where fast run itself is killed, all that gets
SIGTERM, and SIGKILL a minute later. The exit code is that of fast train.

Examples:
  Four of a program of your own, on a 2x2 torus:
    fast run --topology torus:2x2 -- ./train --data here
  The same in Python; a process that dies is started again, at most three times, from its checkpoint:
    fast run --topology torus:2x2 --restarts 3 --out runs/mine -- python3 train.py
  On with a run that was cut off:
    fast run --topology torus:2x2 --resume runs/mine -- python3 train.py)";

/// The options before "--", and the program with its arguments behind it.
std::pair<std::vector<std::string>, std::vector<std::string>> split(
    const std::vector<std::string>& args) {
  const auto at = std::ranges::find(args, "--");
  return {{args.begin(), at}, {at == args.end() ? at : at + 1, args.end()}};
}

struct Folder {
  RunFolder folder;
  LockedFolder lock;
  std::string run_id;
};

Folder folder_of(const RunQuery& query, int workers) {
  const bool resumed = !query.resume.empty();
  if (resumed && (!query.out.empty() || query.overwrite)) {
    throw ConfigError("--resume names the folder, and what is in it is kept",
                      "leave --out and --overwrite out");
  }
  const RunFolder folder(fs::absolute(resumed ? query.resume : query.out));
  LockedFolder lock(folder.root(),
                    resumed           ? LockedFolder::Earlier::kResume
                    : query.overwrite ? LockedFolder::Earlier::kRemove
                                      : LockedFolder::Earlier::kRefuse,
                    "fast run");
  std::string run_id = resumed ? run_id_to_resume(folder.root(), workers) : fresh_run_id();
  for (int rank = 0; rank < workers; ++rank) make_writable_folder(folder.worker(rank));
  return {folder, std::move(lock), std::move(run_id)};
}

/// Where each worker listens, and where its neighbours do. The ports stay the same for all of a
/// worker's lives.
std::vector<Variables> places(const stencil::Topology& topology,
                              const std::vector<ReservedPort>& ports) {
  std::vector<Variables> out;
  for (int rank = 0; rank < topology.size(); ++rank) {
    std::map<int, std::string> peers;
    for (const stencil::Rank one : topology.neighbours(rank)) {
      peers[one] = ports[static_cast<std::size_t>(one)].endpoint();
    }
    out.push_back({{environment_name("rank"), std::to_string(rank)},
                   {environment_name("listen"), ports[static_cast<std::size_t>(rank)].endpoint()},
                   {environment_name("peer"), stencil::option_text(peers)}});
  }
  return out;
}

/// Those of all workers. Numbers of threads that the user has set stay.
Variables common_variables(const std::string& topology, const std::string& run_id, int workers) {
  Variables out = thread_variables(std::max(1, available_cores() / workers));
  std::erase_if(out, [](const auto& one) { return std::getenv(one.first.c_str()) != nullptr; });
  // Python holds its lines back where it does not write to a terminal, and loses them when it is
  // killed.
  if (std::getenv("PYTHONUNBUFFERED") == nullptr) out["PYTHONUNBUFFERED"] = "1";
  out[environment_name("topology")] = topology;
  out[environment_name("run_id")] = run_id;
  return out;
}

/// What decides whether the run needs keys, as far as it is known before the programs say more.
SessionOptions told(bool insecure) {
  const auto of = [](const char* key) {
    return read_environment(environment_name(key)).value_or(std::string());
  };
  SessionOptions out{.keys = of("keys"), .key = of("key"), .insecure = insecure};
  if (const std::string transport = of("transport"); !transport.empty()) {
    out.exchange.transport = transport;
  }
  return out;
}

/// Reports what the sessions have left. Returns an exit code.
ExitCode report(const RunFolder& folder, const LaunchResult& result, const Models& models) {
  bool any = false;
  for (std::size_t rank = 0; rank < result.exits.size(); ++rank) {
    any = any || fs::exists(folder.metrics(static_cast<int>(rank)));
  }
  if (!any) {
    std::cerr << "fast run: there is no result in " << folder.root().string()
              << ": no process has opened a session that takes its options from its environment "
                 "(SessionOptions::from_environment() in C++, fast.join() in Python)\n";
    return ExitCode::kNoExchange;
  }
  const std::vector<fs::path> dirs = {folder.root()};
  return report_run(dirs, folder.root(), find_config(dirs, models), models, record_of(result),
                    std::cout);
}

/// Whether all workers ended alike, before they trained.
bool refused_at_start(ExitCode code) {
  return code == ExitCode::kUsage || code == ExitCode::kFile || code == ExitCode::kRefused;
}

}  // namespace

std::map<std::string, std::vector<std::string>> bind_run_options(CLI::App& app, RunQuery& query) {
  OptionBinder binder(app);
  binder.group("Options");  // options without a group are not shown
  binder(session_fields::topology(), query.topology);
  binder(option_table::restarts_field(), query.restarts);
  session_fields::visit_insecure(query, binder);
  app.add_option(
         "--out,-o", query.out,
         "folder for what the workers leave: metrics, models, checkpoints from which a worker "
         "that is started again resumes, and at the end the mean model and a report page")
      ->type_name("DIR");
  app.add_option("--resume", query.resume, "resume the run in this folder from its checkpoints")
      ->type_name("DIR");
  app.add_flag("--overwrite", query.overwrite, "remove the run that --out holds already");
  return binder.choices();
}

int run_command(const std::vector<std::string>& args, const Models& models) {
  RunQuery query;
  CLI::App app("Starts a program of your own on this machine, one process for each rank of a grid.",
               "fast run");
  set_conventions(app, kRunExamples);
  const auto choices = bind_run_options(app, query);
  auto [wishes, program] = split(args);
  std::string stray;
  // No option: it belongs behind "--", as the usage line says.
  app.add_option("program", stray)->group("")->type_name("-- PROGRAM [ARGUMENTS]");
  if (const auto code = parse_arguments(app, wishes)) return *code;
  if (!stray.empty()) {
    throw ConfigError(fmt::format("'{}' is no option", stray),
                      "put -- before the program: fast run --topology ring:2 -- " + stray);
  }
  if (query.topology.empty()) {
    throw ConfigError("no topology", "give --topology, e.g. --topology torus:2x2");
  }
  if (program.empty()) {
    throw ConfigError("no program", "write it behind --: fast run --topology ring:2 -- PROGRAM");
  }
  stencil::OptionChecks check{stencil::as_flag};
  check(option_table::restarts_field(), query.restarts);
  const stencil::Topology topology = stencil::Topology::parse(query.topology);
  const int workers = topology.size();
  const WritesMayFail writes;
  check_descriptor_limit(workers, raise_descriptor_limit(), 2);

  LaunchOptions options;
  options.program = find_program(program.front());
  program.erase(program.begin());
  options.arguments.assign(static_cast<std::size_t>(workers), program);
  options.reach = Reach::kGroup;
  options.same_signal = true;
  options.last_lines = false;  // all lines are shown
  options.restarts = query.restarts;
  options.stuck_after = 0;  // a process that waits for one that it has started uses no CPU time
  const std::vector<ReservedPort> ports(static_cast<std::size_t>(workers));
  options.own_environment = places(topology, ports);
  std::optional<Folder> folder;
  if (!query.out.empty() || !query.resume.empty()) folder.emplace(folder_of(query, workers));
  options.environment = common_variables(absolute_topology(query.topology),
                                         folder ? folder->run_id : fresh_run_id(), workers);
  std::optional<RunKeys> keys;
  if (needs_run_keys(told(query.insecure), workers)) {
    keys.emplace(folder ? folder->folder.root() : fs::path(), workers, !query.resume.empty());
  }
  options.environment[environment_name("run_keys")] = keys ? keys->folder().string() : "";
  for (int rank = 0; folder && rank < workers; ++rank) {
    Variables& own = options.own_environment[static_cast<std::size_t>(rank)];
    own[environment_name("out")] = folder->folder.root().string();
    own[environment_name("checkpoint")] = own[environment_name("resume")] =
        folder->folder.checkpoint(rank).string();
  }

  const SignalQueue held(false);  // those that come when the processes have ended end the report
  PrefixedLines lines(std::cout, workers);
  LaunchObserver observer;
  observer.tick = [](const std::vector<WorkerProcess>&) {};
  observer.say = [](const std::string& line, bool bad) {
    if (bad) std::cerr << "fast run: " << line << std::endl;
  };
  observer.output = [&](int rank, std::string_view text) { lines.add(rank, text); };
  const LaunchResult result = launch(options, observer);
  const int code = overall_code(result);
  if (!folder) return code;
  if (!query.resume.empty() && refused_at_start(static_cast<ExitCode>(code))) {
    std::cerr << "fast run: no worker has begun; what " << folder->folder.root().string()
              << " holds is as it was\n";
    return code;
  }
  const ExitCode reported = report(folder->folder, result, models);
  return code != 0 ? code : static_cast<int>(reported);
}

}  // namespace fast
