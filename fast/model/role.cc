#include "fast/adapter.h"

namespace fast {

std::string_view name(Role role) {
  switch (role) {
    case Role::kTrained:
      return "trained";
    case Role::kAveraged:
      return "averaged";
    case Role::kCarried:
      return "carried";
  }
  return "?";
}

}  // namespace fast
