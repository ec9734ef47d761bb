#include "fast/data/spec_parts.h"

#include <charconv>

#include "fast/errors.h"
#include "stencil/core/text.h"

namespace fast {

double test_share(std::string_view part) {
  const std::string_view text = part.substr(kTestShare.size());
  double share = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), share);
  if (error == std::errc{} && end == text.data() + text.size() && share > 0 && share < 1) {
    return share;
  }
  throw ConfigError("the share for testing is " + stencil::in_quotes(text),
                    "use a share above 0 and below 1, as test=0.1");
}

}  // namespace fast
