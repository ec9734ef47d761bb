#include "bench/support/results.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bench/support/machine.h"
#include "fast/run/atomic_file.h"

namespace bench {

void add_json_option(CLI::App& app, std::string& file) {
  app.add_option("--json", file, "where the figures go, too, with the machine's name")
      ->type_name("FILE");
}

void write_results(const std::string& file, const nlohmann::ordered_json& asked,
                   const nlohmann::ordered_json& rows) {
  if (file.empty()) return;
  nlohmann::ordered_json all = {{"machine", describe_machine()}};
  all.update(asked);
  all["rows"] = rows;
  fast::write_atomically(file, all.dump(1) + "\n");
}

}  // namespace bench
