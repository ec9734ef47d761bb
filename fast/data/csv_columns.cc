#include "fast/data/csv_columns.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace fast {

std::optional<double> number_of(std::string_view cell) {
  while (cell.starts_with(' ')) cell.remove_prefix(1);
  while (cell.ends_with(' ')) cell.remove_suffix(1);
  if (cell.starts_with('+')) cell.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc{} || end != cell.data() + cell.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

bool CsvColumn::Before::operator()(const std::string& a, const std::string& b) const {
  const auto x = number_of(a), y = number_of(b);
  if (x && y && *x != *y) return *x < *y;
  if (x.has_value() != y.has_value()) return x.has_value();
  return a < b;
}

void CsvColumn::learn(std::string_view cell, bool counts) {
  if (cell.empty()) return;
  const auto value = number_of(cell);
  numeric_ = numeric_ && value.has_value();
  whole_ = whole_ && value && *value >= 0 && *value == std::floor(*value);
  if (!too_many_words()) words_.try_emplace(std::string(cell));
  if (!value || !counts) return;
  count_ += 1;
  const double off = *value - mean_;
  mean_ += off / count_;
  squares_ += off * (*value - mean_);
}

void CsvColumn::finish() {
  std::uint32_t number = 0;
  for (auto& [word, its] : words_) its = number++;
}

void CsvColumn::write(std::string_view cell, std::span<float> out) const {
  if (numeric_) {
    const double deviation = count_ > 0 ? std::sqrt(squares_ / count_) : 0;
    const double off = number_of(cell).value_or(mean_) - mean_;
    out[0] = static_cast<float>(deviation > 0 ? off / deviation : off);
    return;
  }
  std::ranges::fill(out, 0.0F);
  if (const auto it = words_.find(std::string(cell)); it != words_.end()) out[it->second] = 1;
}

std::uint32_t CsvColumn::class_of(std::string_view cell) const {
  return words_.at(std::string(cell));
}

}  // namespace fast
