#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fast {

/// A text escaped for HTML, between tags or in an attribute.
[[nodiscard]] std::string html_escaped(std::string_view text);

/// JSON escaped for a <script> element, which "</script>" or "<!--" in a text would end.
[[nodiscard]] std::string script_safe(std::string_view json);

/// Replaces each {{NAME}} in one pass over the template. Inserted text is not scanned again, so
/// that a run id of "{{DATA}}" stays a run id.
[[nodiscard]] std::string filled(
    std::string_view page, const std::vector<std::pair<std::string_view, std::string>>& parts);

}  // namespace fast
