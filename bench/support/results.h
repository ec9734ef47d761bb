#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace bench {

/// --json FILE, alike in every benchmark.
void add_json_option(CLI::App& app, std::string& file);

/// What --json writes: {"machine": ..., the members of `asked` (an object: with what it was
/// measured), "rows": `rows` (an array of objects)}. Times are in the unit that a key ends with.
/// Nothing where `file` is empty. Throws FileError.
void write_results(const std::string& file, const nlohmann::ordered_json& asked,
                   const nlohmann::ordered_json& rows);

}  // namespace bench
