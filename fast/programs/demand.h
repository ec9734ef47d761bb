#pragma once

#include <fmt/format.h>

#include <string>

#include "fast/errors.h"

namespace fast {

/// Throws ConfigError where the value of an option is out of its range. `ok` is to be written so
/// that a NaN fails it.
template <typename T>
void demand(bool ok, const char* option, const T& value, const std::string& remedy) {
  if (!ok) throw ConfigError(fmt::format("--{} {} is out of range", option, value), remedy);
}

}  // namespace fast
