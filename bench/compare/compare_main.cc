// fast-compare: the same training job under several strategies and conditions, side by side.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <thread>

#include "adapters/torch/models/blas.h"
#include "bench/compare/condition_override.h"
#include "bench/compare/estimate.h"
#include "bench/compare/interrupted.h"
#include "bench/compare/matrix.h"
#include "bench/compare/real/link_shaper.h"
#include "bench/compare/real/member.h"
#include "bench/compare/report/rendering.h"
#include "bench/compare/report/report.h"
#include "bench/support/machine.h"
#include "fast/errors.h"
#include "fast/exit_codes.h"
#include "fast/programs/cli/options.h"
#include "fast/programs/launch/signals.h"
#include "fast/session/exchange.h"

namespace fast::compare {
namespace {

/// Cells side by side, each in a thread; `wanted` 0: one per core. One where the BLAS in use bears
/// no more.
int jobs_of(int wanted) {
  if (const auto blas = blas_in_use(); !bears_threads(blas)) {
    fmt::print(stderr, "fast-compare: one cell at a time: {}\n", blas_advice(blas));
    return 1;
  }
  return wanted > 0 ? wanted : static_cast<int>(std::thread::hardware_concurrency());
}

namespace fs = std::filesystem;

constexpr char kExamples[] =
    R"(Finished cells are kept, a line of JSON each (--cells), and not made again: a comparison can be
interrupted and goes on where it was. Pages and tables go to --out. bench/README.md tells more.

Examples:
  A small, true picture in about five minutes (real processes, four workers):
    fast-compare --quick --cifar10 DIR
  A comparison of your own:
    fast-compare bench/specs/unequal.toml --cifar10 DIR --out runs/more
  The quick one with worker 2 six times slower and 50 Mbit/s for each (as root):
    fast-compare --quick --slow 2:6 --link 50
  The tables of what has been made already, without data:
    fast-compare bench/specs/uniform.toml --finished
  How long a step of a model lasts here (for [time] step_seconds):
    fast-compare measure --model resnet20 --cifar10 DIR)";

/// A comparison of about five minutes on two cores, on CIFAR-10 or else on generated data.
std::string quick_spec(bool cifar10) {
  return fmt::format(R"(
name = "quick"
[job]
model = "resnet8"
data = "{}"
examples = 5500
validation = 500
epochs = 2.5
[[condition]]
name = "uniform"
topology = "torus:2x2"
[[condition]]
name = "one worker 4x slower"
topology = "torus:2x2"
slow = {{"1" = 4}}
[[strategy]]
name = "stencil-async"
[[strategy]]
name = "allreduce"
[[strategy]]
name = "local"
)",
                     cifar10 ? "cifar10" : "synthetic:6000,2000");
}

struct Wishes {
  std::vector<std::string> specs;
  bool quick = false, quiet = false, finished = false;
  std::string out, cells;
  DataPlaces places;
  ConditionOverride condition;
  int jobs = 0;
  double hours = 0, deadline = 60;
};

std::string command_line(const std::vector<std::string>& args) {
  std::string out = "fast-compare";
  for (const std::string& argument : args) out += " " + argument;
  return out;
}

std::string this_program() {
  return fs::read_symlink("/proc/self/exe").string();
}

/// The finished cells of the source tree: below the working directory, or where a program in
/// SOURCE/BUILD/bin finds them.
std::vector<fs::path> landed_cells() {
  const fs::path cells = "bench/results/cells";
  for (const fs::path& root :
       {fs::current_path(), fs::path(this_program()).parent_path().parent_path().parent_path()}) {
    if (fs::is_directory(root / cells)) return {root / cells};
  }
  return {};
}

void add_cifar10(CLI::App& app, DataPlaces& places) {
  app.add_option("--cifar10", places.cifar10, "where CIFAR-10 lies, in its binary format")
      ->type_name("DIR")
      ->envname("FAST_CIFAR10_DIR")
      ->check(CLI::ExistingDirectory);
}

/// Checks that need the data or the machine, before anything runs.
void check(const Spec& spec, const CellStore& store, const DataPlaces& places) {
  std::vector<Cell> missing;
  for (const Cell& cell : spec.cells) {
    if (!store.find(cell)) missing.push_back(cell);
  }
  if (missing.empty()) return;
  try {
    (void)load_split(missing.front(), places);
  } catch (const ConfigError& error) {
    throw ConfigError(fmt::format("{}: [job]: {}", spec.job_at, error.what()), "nothing was begun");
  }
  for (const Cell& cell : missing) {
    if (cell.time != TimeKind::kVirtual) LinkShaper::check(cell.condition.link_mbit);
  }
}

int compare(const std::vector<std::string>& args) {
  Wishes w;
  CLI::App app("Trains the same job under several strategies and conditions, side by side.",
               "fast-compare");
  set_conventions(app, kExamples);
  app.add_option("specs", w.specs, "what to compare (TOML); see bench/specs")->type_name("SPEC");
  app.add_flag("--quick", w.quick, "a small comparison that needs no spec");
  add_options(app, w.condition);
  add_cifar10(app, w.places);
  app.add_option("--out,-o", w.out,
                 "where report and tables go (several specs: a folder each below it); by default "
                 "runs/compare/NAME")
      ->type_name("DIR");
  app.add_option("--cells", w.cells,
                 "where finished cells are kept and looked for; by default new ones go to "
                 "runs/compare/cells, and those of the source tree are looked for too")
      ->type_name("DIR");
  app.add_option("--jobs,-j", w.jobs, "cells of virtual time side by side; 0: one per core")
      ->type_name("N");
  app.add_option("--hours", w.hours, "begin no new cell after so long; 0: no limit")
      ->type_name("HOURS");
  app.add_flag("--finished", w.finished, "make nothing: show the cells that are finished");
  app.add_option("--deadline", w.deadline, "longest wait of a worker for others")
      ->type_name("SECONDS");
  app.add_flag("--quiet,-q", w.quiet, "no progress, only the table");
  if (const auto code = parse_arguments(app, args)) return *code;
  if (w.quick == !w.specs.empty()) {
    throw ConfigError(w.quick ? "--quick has its own spec" : "nothing to compare",
                      "name a spec, or say --quick");
  }
  std::vector<Spec> specs;
  for (const std::string& file : w.specs) specs.push_back(read_spec(file));
  if (w.quick) specs.push_back(parse_spec(quick_spec(!w.places.cifar10.empty()), "--quick"));
  if (w.condition.any()) {
    for (Spec& spec : specs) spec = under(spec, w.condition);
  }
  const CellStore store =
      w.cells.empty() ? CellStore("runs/compare/cells", landed_cells()) : CellStore(w.cells);
  if (!w.finished) {
    for (const Spec& spec : specs) check(spec, store, w.places);
  }
  int failures = 0;
  for (const Spec& spec : specs) {
    const fs::path out = w.out.empty()      ? fs::path("runs/compare") / spec.name
                         : specs.size() > 1 ? fs::path(w.out) / spec.name
                                            : fs::path(w.out);
    MatrixOptions options;
    options.quiet = w.quiet;
    options.hours = w.hours;
    options.jobs = jobs_of(w.jobs);
    options.real = {this_program(), out / "runs", w.places, 1, w.deadline};
    const std::vector<Finished> finished =
        w.finished ? finished_cells(spec, store) : run_matrix(spec, store, options);
    if (finished.empty()) {
      fmt::print(stderr, "fast-compare: {}: no cell was finished{}\n", spec.name,
                 w.finished    ? "; leave --finished out to make them"
                 : w.hours > 0 ? "; give it more --hours"
                               : "");
      return static_cast<int>(ExitCode::kFailure);
    }
    const Circumstances circumstances{.name = spec.name,
                                      .question = spec.question,
                                      .command = command_line(args),
                                      .tuned_by = spec.tuned_by};
    write_comparison(finished, circumstances, out);
    fmt::print("{}\nreport: {}\n", to_markdown(make_groups(finished)),
               fs::absolute(out / "report.html").string());
    if (finished.size() < spec.cells.size()) {
      fmt::print("{} of {} cells are finished; the same command {}makes the rest\n",
                 finished.size(), spec.cells.size(), w.finished ? "without --finished " : "");
    }
    for (const auto& [cell, result] : finished) {
      if (result.failure.empty()) continue;
      ++failures;
      fmt::print(stderr, "fast-compare: {}: failed: {}\n", title(cell), result.failure);
    }
  }
  return failures > 0 ? static_cast<int>(ExitCode::kFailure) : 0;
}

int measure(const std::vector<std::string>& args) {
  Cell cell;
  DataPlaces places;
  CLI::App app(
      "Measures one training step on one core: of CIFAR-10 where --cifar10 names it, of "
      "smaller synthetic images elsewhere, or of other data.",
      "fast-compare measure");
  set_conventions(app, "Example:\n  fast-compare measure --model resnet20 --cifar10 DIR");
  app.add_option("--model,-m", cell.job.model, "which model")->type_name("NAME");
  app.add_option("--data,-d", cell.job.data, "which data set")->type_name("SPEC");
  app.add_option("--batch,-b", cell.job.batch, "examples per step")->type_name("EXAMPLES");
  add_cifar10(app, places);
  if (const auto code = parse_arguments(app, args)) return *code;
  if (!places.cifar10.empty()) cell.job.data = "cifar10";
  const Split split = load_split(cell, places);
  fmt::print("step_seconds = {:.4f}  # {}, batch {} of {}, {}, on one core of {}\n",
             measure_step(cell, split), cell.job.model, cell.job.batch, cell.job.data,
             in_words(split.examples.input), bench::describe_machine());
  return 0;
}

int member(const std::vector<std::string>& args) {
  MemberOptions options;
  std::string run;
  CLI::App app("One process of a run; started by fast-compare itself.", "fast-compare member");
  app.add_option("--run", run)->required();
  app.add_option("--rank", options.rank)->required();
  app.add_option("--run-id", options.run_id)->required();
  app.add_option("--host", options.host);
  app.add_option("--threads", options.threads);
  app.add_option("--deadline", options.deadline);
  add_cifar10(app, options.places);
  if (const auto code = parse_arguments(app, args)) return *code;
  options.run = run;
  return run_member(options);
}

int dispatch(const std::vector<std::string>& args) {
  const std::string first = args.empty() ? "" : args.front();
  const std::vector<std::string> rest(args.begin() + (args.empty() ? 0 : 1), args.end());
  if (first == "member") return member(rest);
  if (first == "measure") return measure(rest);
  return compare(args);
}

int failed(ExitCode code, const std::exception& error) {
  fmt::print(stderr, "fast-compare: {}\n", error.what());
  return static_cast<int>(code);
}

}  // namespace
}  // namespace fast::compare

int main(int argc, char** argv) {
  using fast::ExitCode;
  using fast::compare::failed;
  try {
    return fast::compare::dispatch({argv + 1, argv + argc});
  } catch (const fast::compare::Interrupted& error) {
    return failed(ExitCode::kInterrupted, error);
  } catch (const fast::DeadlineError& error) {
    return failed(ExitCode::kDeadline, error);
  } catch (const fast::FileError& error) {
    return failed(ExitCode::kFile, error);
  } catch (const fast::DataError& error) {
    return failed(ExitCode::kData, error);
  } catch (const fast::ConfigError& error) {
    return failed(ExitCode::kUsage, error);
  } catch (const std::exception& error) {
    return failed(ExitCode::kFailure, error);
  }
}
