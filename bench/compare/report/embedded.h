#pragma once

#include <string_view>

/// The files under page/, made part of the program by fast/report/embed.cmake.
namespace fast::compare::embedded {

extern const std::string_view kCompareHtml, kCompareCss, kCompareJs;

}  // namespace fast::compare::embedded
