#include "stencil/core/option_field.h"

#include <algorithm>

namespace stencil {

std::string as_flag(std::string_view key) {
  std::string flag = "--" + std::string(key);
  std::ranges::replace(flag, '_', '-');
  return flag;
}

}  // namespace stencil
