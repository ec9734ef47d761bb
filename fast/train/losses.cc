#include "fast/train/losses.h"

#include "fast/train/models.h"
#include "stencil/core/text.h"

namespace fast {

void check_loss(std::string_view name) {
  if (!script_file(name).empty()) return;
  std::array<std::string_view, kLosses.size() + 1> names{};
  for (std::size_t i = 0; i < kLosses.size(); ++i) names[i] = kLosses[i];
  names.back() = "script:FILE";
  stencil::check_choice("loss", name, names);
}

}  // namespace fast
