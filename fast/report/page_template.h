#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fast {

/// A text as it may stand in HTML, between tags or in an attribute.
[[nodiscard]] std::string html_escaped(std::string_view text);

/// JSON as it may stand inside a <script> element: "</script>" and "<!--" in a text would end it.
[[nodiscard]] std::string script_safe(std::string_view json);

/// Replaces {{NAME}} in one pass over the template: what is put in is never looked at again, so
/// that a run id of "{{DATA}}" stays a run id.
[[nodiscard]] std::string filled(
    std::string_view page, const std::vector<std::pair<std::string_view, std::string>>& parts);

}  // namespace fast
