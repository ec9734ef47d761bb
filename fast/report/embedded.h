#pragma once

#include <string_view>

/// The files under page/ and Chart.js, made part of the program by embed.cmake.
namespace fast::embedded {

extern const std::string_view kReportHtml, kReportCss, kReportJs, kCommonJs, kChartJs;

}  // namespace fast::embedded
