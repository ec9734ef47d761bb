#include "fast/programs/keys_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <system_error>

#include "fast/errors.h"
#include "fast/options/key_files.h"
#include "fast/programs/cli/options.h"
#include "fast/programs/new_keys.h"
#include "stencil/core/topology.h"

namespace fast {
namespace {

constexpr char kKeysExamples[] =
    R"(Give each worker its own rank-K.key, which no one else may read, and all of them public.keys.

Examples:
  The keys of a grid of four, and a worker that uses them:
    fast keys --out keys --workers 4
    fast-worker --topology torus:2x2 --rank 0 --keys keys --listen '*:5555' ...
  New keys for a grid that runs, one worker after another and without a stop:
    fast keys --out new-keys --workers 4
    cat new-keys/public.keys >> keys/public.keys            # at all workers: both keys count
    mv new-keys/rank-0.key keys/rank-0.key                  # at worker 0, then at the others
    mv new-keys/public.keys keys/public.keys                # at all workers: the old ones are over)";

void make_folder(const std::string& folder) {
  std::error_code error;
  if (std::filesystem::is_directory(folder, error)) return;
  std::filesystem::create_directories(folder, error);
  if (!error) std::filesystem::permissions(folder, std::filesystem::perms::owner_all, error);
  if (error) {
    throw FileError(fmt::format("cannot make the folder {}: {}", folder, error.message()),
                    "name one that can be made with --out");
  }
}

}  // namespace

void bind_keys_options(CLI::App& app, KeysQuery& query) {
  app.add_option("--out,-o", query.out, "folder of the keys")->type_name("DIR")->required();
  app.add_option("--workers", query.workers, "how many workers: ranks 0 to N-1")
      ->type_name("N")
      ->required();
}

int keys_command(const std::vector<std::string>& args, const Models&) {
  KeysQuery query;
  CLI::App app("Makes a pair of keys for each worker of a grid.", "fast keys");
  set_conventions(app, kKeysExamples);
  bind_keys_options(app, query);
  if (const auto code = parse_arguments(app, args)) return *code;
  if (query.workers < 1 || query.workers > stencil::Topology::kMaxSize) {
    throw ConfigError(fmt::format("--workers {} is out of range", query.workers),
                      fmt::format("use 1 to {}", stencil::Topology::kMaxSize));
  }
  make_folder(query.out);
  write_new_keys(query.out, query.workers);
  fmt::print("made {} and the secret key{} rank-0.key{} beside it\n",
             KeyFiles::in_folder(query.out, 0).public_keys, query.workers == 1 ? "" : "s",
             query.workers == 1 ? "" : fmt::format(" to rank-{}.key", query.workers - 1));
  return 0;
}

}  // namespace fast
