#include "fast/programs/toml.h"

#include <fmt/format.h>

#include <cstdint>
#include <set>
#include <utility>

#include "fast/errors.h"

namespace fast {
namespace {

bool is_bare(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

bool is_number_like(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  if (text == "inf" || text == "nan") return true;
  if (text.empty() || text.front() < '0' || text.front() > '9') return false;
  return text.find_first_not_of("0123456789.eE+-_") == std::string_view::npos;
}

void append_utf8(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

class Parser {
 public:
  Parser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  std::vector<TomlEntry> parse() {
    std::vector<TomlEntry> entries;
    std::set<std::string> seen;
    for (skip_blank_lines(); !at_end(); skip_blank_lines()) {
      if (peek() == '[') {
        fail("a [section]", "all keys of this file stand at the top level: remove the section");
      }
      TomlEntry entry;
      entry.line = line_;
      entry.key = key();
      if (!seen.insert(entry.key).second) {
        fail(fmt::format("'{}' for the second time", entry.key), "keep one of the two");
      }
      skip_spaces();
      if (at_end() || peek() != '=') {
        fail(fmt::format("'{}' without a value", entry.key), "write KEY = VALUE");
      }
      ++position_;
      skip_spaces();
      entry.values = value(entry.key);
      end_of_line();
      entries.push_back(std::move(entry));
    }
    return entries;
  }

 private:
  [[noreturn]] void fail(const std::string& what, const std::string& remedy) const {
    throw ConfigError(fmt::format("{}, line {}: {}", name_, line_, what), remedy);
  }
  [[nodiscard]] bool at_end() const { return position_ >= text_.size(); }
  [[nodiscard]] char peek() const { return text_[position_]; }

  void skip_spaces() {
    while (!at_end() && (peek() == ' ' || peek() == '\t' || peek() == '\r')) ++position_;
  }
  void skip_comment() {
    if (at_end() || peek() != '#') return;
    while (!at_end() && peek() != '\n') ++position_;
  }
  void skip_blank_lines() {
    for (;;) {
      skip_spaces();
      skip_comment();
      if (at_end() || peek() != '\n') return;
      ++position_;
      ++line_;
    }
  }
  void end_of_line() {
    skip_spaces();
    skip_comment();
    if (!at_end() && peek() != '\n') {
      fail("text after the value", "one KEY = VALUE a line; strings stand in quotes");
    }
  }

  std::string key() {
    if (peek() == '"' || peek() == '\'') return quoted();
    const std::size_t begin = position_;
    while (!at_end() && is_bare(peek())) ++position_;
    if (position_ == begin) {
      fail(fmt::format("a line that begins with '{}'", peek()), "write KEY = VALUE");
    }
    return std::string(text_.substr(begin, position_ - begin));
  }

  std::vector<std::string> value(const std::string& key) {
    if (at_end() || peek() != '[') return {scalar(key)};
    ++position_;
    std::vector<std::string> values;
    for (;;) {
      skip_blank_lines();
      if (at_end()) fail(fmt::format("the array of '{}' does not end", key), "close it with ]");
      if (peek() == ']') break;
      values.push_back(scalar(key));
      skip_blank_lines();
      if (!at_end() && peek() == ',') {
        ++position_;
      } else if (!at_end() && peek() != ']') {
        fail(fmt::format("in the array of '{}'", key), "separate its values by commas");
      }
    }
    ++position_;
    return values;
  }

  std::string scalar(const std::string& key) {
    if (!at_end() && (peek() == '"' || peek() == '\'')) return quoted();
    const std::size_t begin = position_;
    while (!at_end() && std::string_view(" \t\r\n,]#").find(peek()) == std::string_view::npos) {
      ++position_;
    }
    std::string word(text_.substr(begin, position_ - begin));
    if (word == "true" || word == "false") return word;
    if (!is_number_like(word)) {
      fail(fmt::format("{} = {}", key, word.empty() ? "nothing" : word),
           "a value is a number, true, false, or text in quotes");
    }
    std::erase(word, '_');
    return word;
  }

  std::string quoted() {
    const char quote = peek();
    ++position_;
    std::string out;
    for (;; ++position_) {
      if (at_end() || peek() == '\n') fail("a string that does not end", "close it on its line");
      if (peek() == quote) break;
      if (quote == '"' && peek() == '\\') {
        ++position_;
        escape(out);
      } else {
        out += peek();
      }
    }
    ++position_;
    return out;
  }

  void escape(std::string& out) {
    constexpr std::string_view kNames = "btnfr\"\\", kMeanings = "\b\t\n\f\r\"\\";
    const char c = at_end() ? '\0' : peek();
    if (const auto i = kNames.find(c); c != '\0' && i != std::string_view::npos) {
      out += kMeanings[i];
      return;
    }
    if (c != 'u' && c != 'U') {
      fail("an unknown escape in a string", R"(use \\ for a backslash, or single quotes)");
    }
    std::uint32_t code = 0;
    for (int digits = c == 'u' ? 4 : 8; digits > 0; --digits) {
      ++position_;
      const auto digit = at_end()
                             ? std::string_view::npos
                             : std::string_view("0123456789abcdef0123456789ABCDEF").find(peek());
      if (digit == std::string_view::npos || code > 0x10FFFF) {
        fail("a broken \\u escape", "write \\u and four hexadecimal digits");
      }
      code = code * 16 + static_cast<std::uint32_t>(digit % 16);
    }
    if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
      fail("a \\u escape that is no character", "write the character itself");
    }
    append_utf8(out, code);
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t position_ = 0;
  int line_ = 1;
};

}  // namespace

std::vector<TomlEntry> parse_toml(std::string_view text, const std::string& name) {
  return Parser(text, name).parse();
}

std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace fast
