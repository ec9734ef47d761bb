#include "fast/report/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "fast/report/colours.h"

namespace fast::format {
namespace {

constexpr char kEscape = '\x1b';

/// Length in bytes of the piece that begins at `i`: an escape sequence (columns 0) or a code point
/// (1).
std::size_t piece(const std::string& text, std::size_t i, std::size_t& columns) {
  std::size_t end = i + 1;
  if (text[i] == kEscape) {
    columns = 0;
    if (end < text.size() && text[end] == '[') ++end;
    while (end < text.size() && !(text[end] >= '@' && text[end] <= '~')) ++end;
    return std::min(end + 1, text.size()) - i;
  }
  columns = 1;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
  return end - i;
}

}  // namespace

std::string count(double value) {
  if (!std::isfinite(value)) return "-";
  const std::string digits = fmt::format("{:.0f}", std::fabs(value));
  std::string text = value <= -0.5 ? "-" : "";
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string bytes(double value) {
  if (!std::isfinite(value)) return "-";
  static constexpr std::array<const char*, 6> kUnits = {"B", "kB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  if (unit == 0) return fmt::format("{:.0f} B", value);
  return fmt::format("{:.{}f} {}", value, value < 99.95 ? 1 : 0, kUnits[unit]);
}

std::string seconds(double value) {
  if (!std::isfinite(value) || value < 0 || value > 1e9) return "-";
  if (value < 59.95) return fmt::format("{:.1f} s", value);
  const auto whole = static_cast<std::int64_t>(value + 0.5);
  if (whole < 3600) return fmt::format("{}m {:02}s", whole / 60, whole % 60);
  return fmt::format("{}h {:02}m", whole / 3600, whole / 60 % 60);
}

std::string percent(double fraction, int digits) {
  return std::isfinite(fraction) ? fmt::format("{:.{}f} %", 100 * fraction, digits) : "-";
}

std::string fixed(double value, int digits) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : "-";
}

std::string small(double value) {
  return std::isfinite(value) ? value == 0 ? "0" : fmt::format("{:.1e}", value) : "-";
}

std::size_t width(const std::string& text) {
  std::size_t total = 0, columns = 0;
  for (std::size_t i = 0; i < text.size(); i += piece(text, i, columns), total += columns) {
  }
  return total;
}

std::string cut(const std::string& text, std::size_t columns) {
  std::string out;
  std::size_t used = 0, wide = 0;
  bool escaped = false;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = piece(text, i, wide);
    if (used + wide > columns) break;
    escaped = escaped || wide == 0;
    out.append(text, i, length);
    used += wide;
    i += length;
  }
  return escaped && out.size() < text.size() ? out + kReset : out;
}

std::string left(const std::string& text, std::size_t columns) {
  const std::size_t wide = width(text);
  return wide < columns ? text + std::string(columns - wide, ' ') : text;
}

std::string right(const std::string& text, std::size_t columns) {
  const std::size_t wide = width(text);
  return wide < columns ? std::string(columns - wide, ' ') + text : text;
}

}  // namespace fast::format
