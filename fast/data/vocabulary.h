#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fast {

class DataFile;

/// What a text is made of: tokens, numbered from 0. Immutable value.
class Vocabulary {
 public:
  struct Token {
    std::int64_t number = 0;
    std::size_t length = 0;  ///< bytes
  };

  /// `tokens` by their numbers. `name` is that of the file, for messages. Throws DataError for an
  /// empty token, one that comes twice, and where there are none.
  Vocabulary(std::vector<std::string> tokens, std::string name);
  /// A line each; "\n", "\r", "\t", "\\" and "\xHH" (two hexadecimal digits) stand for a byte.
  /// Throws DataError, naming the line.
  [[nodiscard]] static Vocabulary parse(std::string_view lines, const std::string& name);
  /// See parse(). Throws DataError where the file cannot be read.
  [[nodiscard]] static Vocabulary read(const std::filesystem::path& file);
  /// The characters of a text in UTF-8, in the order of their code points. Throws DataError, naming
  /// the place, where it is not UTF-8.
  [[nodiscard]] static Vocabulary characters_of(const DataFile& text, const std::string& name);

  [[nodiscard]] std::size_t size() const { return tokens_.size(); }
  [[nodiscard]] const std::string& token(std::int64_t number) const {
    return tokens_.at(static_cast<std::size_t>(number));
  }
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Bytes of the longest token.
  [[nodiscard]] std::size_t longest() const { return longest_; }
  /// The longest token with which `text` begins; nothing where it begins with none.
  [[nodiscard]] std::optional<Token> first(std::span<const std::uint8_t> text) const;
  /// Bytes of memory.
  [[nodiscard]] std::size_t bytes() const;

 private:
  std::vector<std::string> tokens_;
  std::vector<std::uint32_t> sorted_;  ///< numbers, in the order of their tokens
  std::string name_;
  std::size_t longest_ = 0;
};

}  // namespace fast
