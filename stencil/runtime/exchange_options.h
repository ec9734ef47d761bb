#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "stencil/core/option_field.h"

namespace stencil {

/// The values that `transport`, `share_memory` and `initial` may have.
inline constexpr std::array<std::string_view, 3> kTransports = {"auto", "zmq", "tcp"};
inline constexpr std::array<std::string_view, 2> kSharings = {"auto", "never"};
inline constexpr std::array<std::string_view, 2> kInitials = {"lowest", "same"};

/// How a worker exchanges with its neighbours. Sessions, programs, the simulator and the comparison
/// share these options. Value type; times are in seconds. exchange_option_fields.h gives the
/// meaning and the values of each.
struct ExchangeOptions {
  std::string mode = "async";
  std::string codec = "fp32";
  std::string transport = "auto";
  std::string share_memory = "auto";
  int packet_bytes = 65535;
  std::optional<double> sweeps{};  ///< per step; nothing: Grid::sweeps()
  double linger = 0.1;
  double phase_lock = 0.15;
  bool overlap = true;
  bool by_layer = true;
  bool fold_ahead = true;
  int mix_threads = 1;
  int bucket_kib = 0;
  int window = 4;
  std::string memory_budget = "0";
  std::string max_rate = "0";
  std::string data_cap = "0";
  double suspect_after = 3;
  double gone_after = 60;
  double wait_deadline = 60;
  double busy_deadline = 600;
  double start_deadline = 60;
  double settle_target = 1e-3;
  double settle_deadline = 30;
  double wait_at_end = 0;
  std::string initial = "lowest";

  /// Throws ConfigError that names the first option out of its range, its value and the remedy.
  void validate(OptionNaming naming = as_field) const;

  friend bool operator==(const ExchangeOptions&, const ExchangeOptions&) = default;
};

/// Each option as runs behaved before the option existed: the bare exchange, in which no boundary
/// waits for anything. Records that do not name an option mean these values.
[[nodiscard]] ExchangeOptions bare_exchange();

}  // namespace stencil
