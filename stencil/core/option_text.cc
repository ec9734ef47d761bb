#include "stencil/core/option_text.h"

namespace stencil {

bool read_option(std::string_view text, bool& value) {
  const bool yes = text == "true" || text == "yes" || text == "1";
  const bool no = text == "false" || text == "no" || text == "0";
  if (yes || no) value = yes;
  return yes || no;
}

}  // namespace stencil
