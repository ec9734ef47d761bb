#include "fast/session/exchange.h"

namespace fast {

std::string_view name(Agreement agreement) {
  switch (agreement) {
    case Agreement::kAgreed:
      return "agreed";
    case Agreement::kAlone:
      return "alone";
    case Agreement::kDeadline:
      return "deadline";
    case Agreement::kPaused:
      return "paused";
  }
  return "";
}

}  // namespace fast
