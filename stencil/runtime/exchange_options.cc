#include "stencil/runtime/exchange_options.h"

#include <vector>

#include "stencil/core/byte_size.h"
#include "stencil/core/data_rate.h"
#include "stencil/core/error.h"
#include "stencil/core/mode.h"
#include "stencil/core/option_checks.h"
#include "stencil/core/text.h"
#include "stencil/mix/codecs/kinds.h"
#include "stencil/runtime/exchange_option_fields.h"

namespace stencil {

namespace internal {

void check_mode(const std::string& mode) {
  (void)Mode::parse(mode);
}

void check_codec_name(const std::string& codec) {
  (void)parse_codec(codec);
}

void check_transport(const std::string& transport) {
  check_choice("transport", transport, kTransports);
}

void check_sharing(const std::string& sharing) {
  check_choice("share_memory", sharing, kSharings);
}

void check_initial(const std::string& initial) {
  check_choice("initial", initial, kInitials);
}

void check_budget(const std::string& budget) {
  if (parse_bytes(budget)) return;
  throw ConfigError("memory_budget " + in_quotes(budget) + " is no number of bytes",
                    "use e.g. 64MB, 1.5GB or 512KiB, or 0 for no bound");
}

void check_rate(const std::string& rate) {
  if (parse_rate(rate)) return;
  throw ConfigError("max_rate " + in_quotes(rate) + " is no rate",
                    "use e.g. 2Mbit/s, 64kbit/s or 250kB/s, or 0 for no bound");
}

void check_cap(const std::string& cap) {
  if (parse_allowance(cap)) return;
  throw ConfigError("data_cap " + in_quotes(cap) + " is no number of bytes in a period",
                    "use e.g. 2GB/day, 100MB/hour, 10GB/week or 30GB/month, or 0 for no bound");
}

std::string codec_help() {
  return "numbers on the wire: " + codec_forms() +
         "; int8 sends differences in 8 bits and values as fp16; int4 differences in 4, and of "
         "values the last bits; topk the part F <= 0.5 that moved most (one more copy of the model "
         "per neighbour; not in mode sync)";
}

}  // namespace internal

void ExchangeOptions::validate(OptionNaming naming) const {
  OptionChecks checks(naming);
  visit_fields(*this, checks);
  check_codec(parse_codec(codec), Mode::parse(mode));
  if (data_cap != "0" && mode == "sync") {
    throw ConfigError(naming("data_cap") + " " + data_cap + " with " + naming("mode") +
                          " sync: nobody can rest while all others wait for each step",
                      "use " + naming("mode") + " async or bounded:K, or no " + naming("data_cap"));
  }
  if (gone_after < suspect_after) {
    throw ConfigError(naming("gone_after") + " " + option_text(gone_after) + " is less than " +
                          naming("suspect_after") + " " + option_text(suspect_after),
                      "a neighbour is suspect first and gone later: raise " + naming("gone_after"));
  }
}

ExchangeOptions bare_exchange() {
  ExchangeOptions options;
  const auto set = [](const auto& field, auto& value) { value = field.before; };
  visit_fields(options, set);
  return options;
}

}  // namespace stencil
