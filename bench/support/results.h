#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace bench {

/// Adds --json FILE, the same in every benchmark.
void add_json_option(CLI::App& app, std::string& file);

/// Writes the file of --json: {"machine": ..., the members of `asked` (an object: the parameters of
/// the measurement), "rows": `rows` (an array of objects)}. Times are in the unit at the end of
/// their key. Does nothing where `file` is empty. Throws FileError.
void write_results(const std::string& file, const nlohmann::ordered_json& asked,
                   const nlohmann::ordered_json& rows);

}  // namespace bench
