#include "fast/data/csv.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fast/data/csv_columns.h"
#include "fast/data/csv_records.h"
#include "fast/data/file_bytes.h"
#include "fast/data/spec_parts.h"
#include "fast/errors.h"
#include "stencil/core/text.h"

namespace fast {
namespace {

constexpr char kRemedy[] = "give a table whose first line names its columns";
constexpr std::size_t kPiece = 1 << 20;
constexpr std::size_t kLongestRow = 64 << 20;

struct Arguments {
  std::string file;
  std::string target{};  ///< empty: the last column
  bool numbers = false, missing = false;
  double test = 0.1;
};

/// One part behind a comma; false: it belongs to the file's name.
bool take(std::string_view part, Arguments& out) {
  constexpr std::string_view kTarget = "target=", kMissing = "missing=";
  if (part == "numbers") {
    out.numbers = true;
  } else if (part.starts_with(kTarget)) {
    out.target = part.substr(kTarget.size());
  } else if (part.starts_with(kMissing)) {
    out.missing = true;
    if (part.substr(kMissing.size()) != "mean") {
      throw ConfigError("for empty cells it has " + stencil::in_quotes(part), "use missing=mean");
    }
  } else if (part.starts_with(kTestShare)) {
    out.test = test_share(part);
  } else {
    return false;
  }
  return true;
}

Arguments parse(std::string_view text) {
  Arguments out;
  out.file = take_parts(text, [&](std::string_view part) { return take(part, out); });
  return out;
}

/// Whether a row is for testing: evenly spread, whatever the order of the rows (splitmix64).
bool is_for_testing(std::uint64_t row, double share) {
  std::uint64_t z = (row + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return static_cast<double>((z ^ (z >> 31U)) >> 11U) * 0x1p-53 < share;
}

/// A table: what its columns hold, and where its rows are. Immutable, but for DataFile's one
/// thread.
class Table {
 public:
  explicit Table(Arguments arguments)
      : arguments_(std::move(arguments)), file_(arguments_.file, kRemedy) {
    std::vector<bool> tested;
    std::vector<std::uint64_t> rows;
    each([&](const CsvRecord& record, std::uint64_t place, std::size_t line) {
      if (columns_.empty()) return take_header(record);
      check(record, line);
      const bool test = is_for_testing(rows.size(), arguments_.test);
      for (std::size_t i = 0; i < columns_.size(); ++i) columns_[i].learn(record.fields[i], !test);
      rows.push_back(place);
      tested.push_back(test);
    });
    if (rows.empty()) throw DataError(arguments_.file + " has no row", kRemedy);
    for (std::size_t i = 0; i < rows.size(); ++i) (tested[i] ? test_ : train_).push_back(rows[i]);
    if (train_.empty() || test_.empty()) {
      throw DataError(arguments_.file + " has " + std::to_string(rows.size()) +
                          " rows, too few to train on and to test by",
                      "give more rows, or another share of them for testing, as test=0.3");
    }
    settle();
  }

  [[nodiscard]] const ExampleSpec& spec() const { return spec_; }
  [[nodiscard]] const std::vector<std::uint64_t>& rows(bool test) const {
    return test ? test_ : train_;
  }
  [[nodiscard]] bool has_labels() const { return spec_.classes > 0; }

  /// Of one row, its features and its target.
  void write(std::uint64_t place, std::span<float> features, const ValuesOut& target,
             std::size_t at) const {
    const CsvRecord& record = read(place);
    std::size_t next = 0;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (i == target_) continue;
      columns_[i].write(record.fields[i], features.subspan(next, columns_[i].width()));
      next += columns_[i].width();
    }
    if (has_labels()) {
      std::get<std::span<std::int64_t>>(target)[at] =
          columns_[target_].class_of(record.fields[target_]);
    } else {
      std::get<std::span<float>>(target)[at] =
          static_cast<float>(number_of(record.fields[target_]).value_or(0));
    }
  }
  [[nodiscard]] std::uint32_t label(std::uint64_t place) const {
    return columns_[target_].class_of(read(place).fields[target_]);
  }

 private:
  /// Calls see(record, place, line) for each record.
  template <typename See>
  void each(See see) const {
    std::vector<std::uint8_t> piece;
    CsvRecord record;
    const std::size_t size = file_.size();
    std::size_t line = 1, most = kPiece;
    for (std::size_t place = 0; place < size;) {
      piece.resize(std::min(most, size - place));
      file_.read(place, piece);
      const bool last = place + piece.size() == size;
      std::size_t at = 0;
      while (at < piece.size() && take_record(std::span(piece).subspan(at), last, line, record)) {
        const bool blank = record.fields.size() == 1 && record.fields[0].empty();
        if (!blank) see(record, place + at, line);
        at += record.bytes;
        line += record.lines;
      }
      if (at == 0) most *= 2;  // a row that is longer than a piece
      if (most > kLongestRow) {
        throw DataError(where(line) + "a row of more than 64 MiB", "close the quote that it opens");
      }
      place += at;
    }
  }

  bool take_record(std::span<const std::uint8_t> text, bool last, std::size_t line,
                   CsvRecord& record) const {
    try {
      return read_csv_record(text, last, record);
    } catch (const CsvError& error) {
      throw DataError(where(line) + error.what(),
                      "write it as RFC 4180 says: \"a \"\"word\"\", say\"");
    }
  }

  [[nodiscard]] std::string where(std::size_t line) const {
    return arguments_.file + ", line " + std::to_string(line) + ": ";
  }

  void take_header(const CsvRecord& record) {
    std::set<std::string> names;
    for (const std::string& name : record.fields) {
      if (!names.insert(name).second) {
        throw DataError(where(1) + "two columns are called " + stencil::in_quotes(name),
                        "give each column its own name");
      }
      columns_.emplace_back(name);
    }
    if (columns_.front().name().starts_with("\xef\xbb\xbf")) {  // a byte order mark
      columns_.front() = CsvColumn(columns_.front().name().substr(3));
    }
    if (columns_.size() < 2) {
      throw DataError(where(1) + "it has one column alone", "give features and a target");
    }
    target_ = columns_.size() - 1;
    if (arguments_.target.empty()) return;
    const auto it = std::ranges::find(columns_, arguments_.target, &CsvColumn::name);
    if (it == columns_.end()) {
      std::vector<std::string_view> known(names.begin(), names.end());
      throw DataError(where(1) + "no column is called " + stencil::in_quotes(arguments_.target) +
                          stencil::suggestion(arguments_.target, known),
                      "name one of them: target=NAME");
    }
    target_ = static_cast<std::size_t>(it - columns_.begin());
  }

  void check(const CsvRecord& record, std::size_t line) const {
    if (record.fields.size() != columns_.size()) {
      throw DataError(where(line) + std::to_string(record.fields.size()) + " cells, and " +
                          std::to_string(columns_.size()) + " columns",
                      "give each row a cell for each column");
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (!record.fields[i].empty() || (arguments_.missing && i != target_)) continue;
      throw DataError(where(line) + "the cell of column " + stencil::in_quotes(columns_[i].name()) +
                          " is empty",
                      i == target_ ? "give each row its target" : "fill it, or use missing=mean");
    }
  }

  /// What the columns make, once they are known.
  void settle() {
    std::int64_t width = 0;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      CsvColumn& column = columns_[i];
      column.finish();
      const bool of_words = i == target_ ? !of_numbers() : !column.numeric();
      if (of_words && column.too_many_words()) {
        throw DataError(arguments_.file + ": column " + stencil::in_quotes(column.name()) +
                            " has more than " + std::to_string(CsvColumn::kMostWords) +
                            (i == target_ ? " classes" : " words"),
                        i == target_ ? "use ',numbers' where it is a number to be foretold"
                                     : "leave it out, or make numbers of it");
      }
      if (i != target_ && column.numeric()) column.forget_words();
      if (i != target_) width += static_cast<std::int64_t>(column.width());
    }
    if (of_numbers() && !columns_[target_].numeric()) {
      throw DataError(arguments_.file + ": column " + stencil::in_quotes(columns_[target_].name()) +
                          " holds words",
                      "leave ',numbers' out");
    }
    spec_.input = {ValueType::kFloat32, {width}};
    if (of_numbers()) {
      spec_.target = {ValueType::kFloat32, {}};
    } else {
      spec_.target = {ValueType::kInt64, {}};
      spec_.classes = static_cast<int>(columns_[target_].classes());
    }
  }
  [[nodiscard]] bool of_numbers() const {
    return arguments_.numbers || (columns_[target_].numeric() && !columns_[target_].whole());
  }

  /// The record at a place that each() has seen.
  [[nodiscard]] const CsvRecord& read(std::uint64_t place) const {
    const std::size_t size = file_.size();
    for (std::size_t most = 1024; place < size; most *= 4) {
      bytes_.resize(std::min<std::uint64_t>(most, size - place));
      file_.read(place, bytes_);
      if (!take_record(bytes_, place + bytes_.size() == size, 0, record_)) continue;
      if (record_.fields.size() != columns_.size()) break;
      return record_;
    }
    throw DataError(arguments_.file + " has become another table",
                    "leave it as it is while it is trained from");
  }

  Arguments arguments_;
  DataFile file_;
  std::vector<CsvColumn> columns_;
  std::size_t target_ = 0;
  std::vector<std::uint64_t> train_, test_;  ///< where rows begin
  ExampleSpec spec_;
  mutable std::vector<std::uint8_t> bytes_;
  mutable CsvRecord record_;
};

/// The rows to train on, or those for testing. One thread for all sets of a table.
class Rows final : public ExampleSet {
 public:
  Rows(std::shared_ptr<const Table> table, bool test)
      : table_(std::move(table)), rows_(table_->rows(test)), labels_(rows_.size()) {
    if (!table_->has_labels()) return;
    std::ranges::transform(rows_, labels_.begin(), [&](auto row) { return table_->label(row); });
  }

  [[nodiscard]] std::size_t size() const override { return rows_.size(); }
  [[nodiscard]] std::vector<std::uint32_t> labels() const override { return labels_; }
  [[nodiscard]] std::size_t bytes() const override {
    return rows_.capacity() * sizeof(rows_[0]) + labels_.capacity() * sizeof(labels_[0]);
  }
  void write(std::size_t first, std::size_t count, stencil::Random* /*random*/,
             const ValuesOut& inputs, const ValuesOut& targets) const override {
    const std::span<float> features = std::get<std::span<float>>(inputs);
    const std::size_t width = table_->spec().input.values();
    for (std::size_t i = 0; i < count; ++i) {
      table_->write(rows_[first + i], features.subspan(i * width, width), targets, i);
    }
  }

 private:
  std::shared_ptr<const Table> table_;
  const std::vector<std::uint64_t>& rows_;
  std::vector<std::uint32_t> labels_;
};

}  // namespace

Dataset load_csv(std::string_view text) {
  const auto table = std::make_shared<const Table>(parse(text));
  Dataset data;
  data.spec = table->spec();
  data.train = std::make_shared<Rows>(table, false);
  data.test = std::make_shared<Rows>(table, true);
  return data;
}

ExampleSpec csv_spec(std::string_view text) {
  return Table(parse(text)).spec();
}

}  // namespace fast
