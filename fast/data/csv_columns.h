#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace fast {

/// A number as a whole cell; nothing for anything else, and where it is not finite.
[[nodiscard]] std::optional<double> number_of(std::string_view cell);

/// What a column of a table holds, learnt cell by cell. Value type.
class CsvColumn {
 public:
  /// More different words than these make no features.
  static constexpr std::size_t kMostWords = 1000;

  explicit CsvColumn(std::string name) : name_(std::move(name)) {}
  [[nodiscard]] const std::string& name() const { return name_; }

  /// `counts`: whether it is of a row to train on, by which mean and deviation are taken.
  void learn(std::string_view cell, bool counts);
  /// All cells are known: numbers the words.
  void finish();

  /// They are of no use where it is one of numbers.
  void forget_words() { words_.clear(); }

  [[nodiscard]] bool numeric() const { return numeric_; }
  /// All are whole numbers from 0 on.
  [[nodiscard]] bool whole() const { return numeric_ && whole_; }
  [[nodiscard]] bool too_many_words() const { return words_.size() > kMostWords; }
  /// Features that it makes.
  [[nodiscard]] std::size_t width() const { return numeric_ ? 1 : words_.size(); }
  /// Writes width() features. An empty cell: the mean, or no word.
  void write(std::string_view cell, std::span<float> out) const;

  /// As classes, whose names are the words: how many, and that of a cell, which is one of them.
  [[nodiscard]] std::size_t classes() const { return words_.size(); }
  [[nodiscard]] std::uint32_t class_of(std::string_view cell) const;

 private:
  /// Whole numbers by their size, other words by their letters.
  struct Before {
    bool operator()(const std::string& a, const std::string& b) const;
  };

  std::string name_;
  bool numeric_ = true, whole_ = true;
  std::map<std::string, std::uint32_t, Before> words_;  ///< their numbers
  double count_ = 0, mean_ = 0, squares_ = 0;           ///< Welford
};

}  // namespace fast
