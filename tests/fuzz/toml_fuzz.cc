#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fast/errors.h"
#include "fast/programs/cli/toml.h"

/// A configuration file is read or refused, whatever it holds; what was read survives writing.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    for (const fast::TomlEntry& entry : fast::parse_flat_toml(text, "fuzz.toml")) {
      for (const std::string& value : entry.values) {
        const auto again = fast::parse_flat_toml("a = " + fast::toml_string(value), "again");
        if (again.size() != 1 || again[0].values != std::vector<std::string>{value})
          __builtin_trap();
      }
    }
  } catch (const fast::ConfigError&) {
  }
  return 0;
}
