#pragma once

#include <string>

namespace bench {

/// "AMD EPYC (family 25, model 17), 2 cores, Linux 6.1": the name alone does not tell generations
/// apart on rented machines.
[[nodiscard]] std::string describe_machine();

}  // namespace bench
