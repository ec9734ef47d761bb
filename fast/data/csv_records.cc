#include "fast/data/csv_records.h"

namespace fast {
namespace {

/// Reads one record, character by character.
class RecordReader {
 public:
  RecordReader(std::span<const std::uint8_t> text, bool last, CsvRecord& out)
      : text_(text), last_(last), out_(out) {
    out_.lines = 0;
    out_.bytes = 0;
  }

  bool read() {
    std::size_t count = 0;
    for (bool more = true; more;) {
      if (count == out_.fields.size()) out_.fields.emplace_back();
      std::string& field = out_.fields[count++];
      field.clear();
      if (!read_field(field, more)) return false;
    }
    out_.fields.resize(count);
    out_.bytes = at_;
    return true;
  }

 private:
  [[nodiscard]] bool over() const { return at_ == text_.size(); }

  /// `more`: a comma follows it. False: it goes on behind the text.
  bool read_field(std::string& field, bool& more) {
    const bool quoted = !over() && text_[at_] == '"';
    if (quoted && !read_quoted(field)) return false;
    for (; !over(); ++at_) {
      const auto c = static_cast<char>(text_[at_]);
      if (c == ',') {
        ++at_;
        return true;
      }
      if (c == '\n') return end_line(more);
      if (c == '\r') {
        if (at_ + 1 == text_.size() && !last_) return false;
        if (at_ + 1 == text_.size() || text_[at_ + 1] == '\n') continue;
      }
      if (quoted) throw CsvError("something follows a closing quote");
      if (c == '"') throw CsvError("a quote stands in a field that does not begin with one");
      field += c;
    }
    if (!last_) return false;
    more = false;
    ++out_.lines;
    return true;
  }

  bool end_line(bool& more) {
    ++at_;
    ++out_.lines;
    more = false;
    return true;
  }

  /// Up to behind the closing quote. Two quotes are one.
  bool read_quoted(std::string& field) {
    for (++at_; !over(); ++at_) {
      const auto c = static_cast<char>(text_[at_]);
      if (c == '\n') ++out_.lines;
      if (c != '"') {
        field += c;
        continue;
      }
      if (at_ + 1 == text_.size() && !last_) return false;
      if (at_ + 1 == text_.size() || text_[at_ + 1] != '"') {
        ++at_;
        return true;
      }
      field += '"';
      ++at_;
    }
    if (!last_) return false;
    throw CsvError("a quoted field has no end");
  }

  std::span<const std::uint8_t> text_;
  bool last_;
  CsvRecord& out_;
  std::size_t at_ = 0;
};

}  // namespace

bool read_csv_record(std::span<const std::uint8_t> text, bool last, CsvRecord& out) {
  return RecordReader(text, last, out).read();
}

}  // namespace fast
