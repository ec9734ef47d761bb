#include "fast/data/text.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fast/data/file_bytes.h"
#include "fast/data/vocabulary.h"
#include "fast/errors.h"
#include "stencil/core/text.h"

namespace fast {
namespace {

constexpr char kRemedy[] = "give a file of text";
constexpr std::string_view kCharacters = "characters", kVocabulary = ",vocabulary=";
constexpr std::int64_t kLength = 128, kMostLength = 1 << 20;
constexpr int kBytes = 256;
/// One window of so many is for testing.
constexpr std::size_t kOneOf = 10;
/// Of the text, read at a time.
constexpr std::size_t kPiece = 1 << 20;

struct Source {
  std::string file;
  std::int64_t length = kLength;
  bool characters = false;
  std::string vocabulary{};  ///< its file; empty: none

  [[nodiscard]] bool of_bytes() const { return !characters && vocabulary.empty(); }
  [[nodiscard]] std::size_t window() const { return static_cast<std::size_t>(length); }
};

/// What follows the last comma of `text`, which then ends before it.
std::string_view last_part(std::string_view text) {
  return text.substr(text.find_last_of(',') + 1);
}
void drop_last_part(std::string_view& text) {
  text = text.substr(0, text.find_last_of(','));
}

/// What follows the last commas says how: names may hold commas, too.
Source parse(std::string_view arguments) {
  Source source;
  const auto has_part = [&] { return arguments.find(',') != std::string_view::npos; };
  const std::size_t vocabulary = arguments.rfind(kVocabulary);
  if (vocabulary != std::string_view::npos) {
    source.vocabulary = arguments.substr(vocabulary + kVocabulary.size());
    arguments = arguments.substr(0, vocabulary);
    if (source.vocabulary.empty()) {
      throw ConfigError("its vocabulary has no name", "use vocabulary=FILE, a token a line");
    }
  } else if (has_part() && last_part(arguments) == kCharacters) {
    source.characters = true;
    drop_last_part(arguments);
  }
  if (has_part()) {
    const std::string_view number = last_part(arguments);
    const char* const end = number.data() + number.size();
    const auto [next, error] = std::from_chars(number.data(), end, source.length);
    const bool meant = next != number.data();
    if (meant &&
        (error != std::errc{} || next != end || source.length < 1 || source.length > kMostLength)) {
      throw ConfigError("the length of its windows is " + stencil::in_quotes(number),
                        "use 1 to " + std::to_string(kMostLength) + " tokens");
    }
    if (meant) drop_last_part(arguments);
  }
  source.file = arguments;
  return source;
}

Vocabulary vocabulary_of(const Source& source) {
  if (!source.characters) return Vocabulary::read(source.vocabulary);
  return Vocabulary::characters_of(DataFile(source.file, kRemedy), source.file);
}

/// Consecutive windows of bytes. One thread.
class ByteWindows final : public ExampleSet {
 public:
  ByteWindows(const Source& source, std::size_t first, std::size_t count)
      : file_(source.file, kRemedy), length_(source.window()), first_(first), count_(count) {}

  [[nodiscard]] std::size_t size() const override { return count_; }
  [[nodiscard]] std::vector<std::uint32_t> labels() const override {
    return std::vector<std::uint32_t>(count_);
  }
  [[nodiscard]] std::size_t bytes() const override { return bytes_.capacity(); }
  void write(std::size_t first, std::size_t count, stencil::Random* /*random*/,
             const ValuesOut& inputs, const ValuesOut& targets) const override {
    bytes_.resize(count * length_ + 1);
    file_.read((first_ + first) * length_, bytes_);
    std::copy(bytes_.begin(), bytes_.end() - 1, std::get<std::span<std::int64_t>>(inputs).begin());
    std::copy(bytes_.begin() + 1, bytes_.end(), std::get<std::span<std::int64_t>>(targets).begin());
  }

 private:
  DataFile file_;
  std::size_t length_, first_, count_;
  mutable std::vector<std::uint8_t> bytes_;
};

/// A text as tokens of a vocabulary, and where its windows begin. Immutable, but for DataFile's one
/// thread.
struct TokenText {
  DataFile file;
  std::string name;
  Vocabulary vocabulary;
  std::size_t length, size;
  std::size_t tokens = 0;
  std::vector<std::uint64_t>
      starts{};  ///< of each window, in bytes, and of the token behind the last

  TokenText(const Source& source, Vocabulary known)
      : file(source.file, kRemedy),
        name(source.file),
        vocabulary(std::move(known)),
        length(source.window()),
        size(file.size()) {
    read(0, size, [&](std::uint64_t place, std::int64_t /*number*/) {
      if (tokens++ % length == 0) starts.push_back(place);
      return true;
    });
  }

  /// Calls see(place, number) for each token from `place` on, until it returns false, or at `end`.
  template <typename See>
  void read(std::uint64_t place, std::uint64_t end, See see) const {
    std::vector<std::uint8_t> piece;
    while (place < end) {
      piece.resize(std::min<std::uint64_t>(std::max(kPiece, vocabulary.longest()), end - place));
      file.read(place, piece);
      const bool last = place + piece.size() == end;
      std::size_t at = 0;
      while (at < piece.size() && (last || at + vocabulary.longest() <= piece.size())) {
        const auto token = vocabulary.first(std::span(piece).subspan(at));
        if (!token) throw unknown(place + at);
        if (!see(place + at, token->number)) return;
        at += token->length;
      }
      place += at;
    }
  }

  [[nodiscard]] DataError unknown(std::uint64_t place) const {
    constexpr std::size_t kShown = 12;
    std::vector<std::uint8_t> bytes(std::min<std::uint64_t>(kShown, size - place));
    file.read(place, bytes);
    return {name + ", byte " + std::to_string(place) + ": no token of " + vocabulary.name() +
                " begins " + stencil::in_quotes(std::string(bytes.begin(), bytes.end())),
            "add tokens to the vocabulary: with one for each byte, no text lacks any"};
  }
};

/// Consecutive windows of a text of tokens, which sets of one text share. One thread.
class TokenWindows final : public ExampleSet {
 public:
  TokenWindows(std::shared_ptr<const TokenText> text, std::size_t first, std::size_t count)
      : text_(std::move(text)), first_(first), count_(count) {}

  [[nodiscard]] std::size_t size() const override { return count_; }
  [[nodiscard]] std::vector<std::uint32_t> labels() const override {
    return std::vector<std::uint32_t>(count_);
  }
  [[nodiscard]] std::size_t bytes() const override {
    return text_->starts.capacity() * sizeof(std::uint64_t) + text_->vocabulary.bytes();
  }
  void write(std::size_t first, std::size_t count, stencil::Random* /*random*/,
             const ValuesOut& inputs, const ValuesOut& targets) const override {
    const std::span<std::int64_t> in = std::get<std::span<std::int64_t>>(inputs);
    const std::span<std::int64_t> out = std::get<std::span<std::int64_t>>(targets);
    const std::size_t all = count * text_->length, begin = first_ + first;
    const std::uint64_t end = std::min<std::uint64_t>(
        text_->starts[begin + count] + text_->vocabulary.longest(), text_->size);
    std::size_t done = 0;
    text_->read(text_->starts[begin], end, [&](std::uint64_t /*place*/, std::int64_t number) {
      if (done > 0) out[done - 1] = number;
      if (done < all) in[done] = number;
      return done++ < all;
    });
    if (done <= all) {
      throw DataError(text_->name + " has become another text",
                      "leave it as it is while it is trained from");
    }
  }

 private:
  std::shared_ptr<const TokenText> text_;
  std::size_t first_, count_;
};

ExampleSpec spec_of(const Source& source, std::size_t tokens) {
  ExampleSpec spec;
  spec.input = spec.target = {ValueType::kInt64, {source.length}};
  spec.classes = static_cast<int>(tokens);
  return spec;
}

/// Of these many windows.
void check_windows(const Source& source, std::size_t windows, const std::string& what) {
  if (windows >= 2 && windows <= std::numeric_limits<std::uint32_t>::max()) return;
  throw DataError(source.file + " has " + what + ", which are " + std::to_string(windows) +
                      " windows of " + std::to_string(source.length),
                  windows < 2 ? "use a longer text, or text:FILE,LENGTH with a smaller length"
                              : "use text:FILE,LENGTH with a larger length");
}

/// The token after the last window is a target, too.
std::size_t windows_of_bytes(const Source& source) {
  const std::size_t size = DataFile(source.file, kRemedy).size();
  const std::size_t windows = size == 0 ? 0 : (size - 1) / source.window();
  check_windows(source, windows, std::to_string(size) + " bytes");
  return windows;
}

/// `make`: a set of the windows from the first on, so many.
template <typename Make>
Dataset split(ExampleSpec spec, std::size_t windows, Make make) {
  const std::size_t tested = std::max<std::size_t>(1, windows / kOneOf);
  Dataset data;
  data.spec = std::move(spec);
  data.train = make(0, windows - tested);
  data.test = make(windows - tested, tested);
  return data;
}

}  // namespace

Dataset load_text(std::string_view arguments) {
  const Source source = parse(arguments);
  if (source.of_bytes()) {
    return split(spec_of(source, kBytes), windows_of_bytes(source),
                 [&](std::size_t first, std::size_t count) {
                   return std::make_shared<ByteWindows>(source, first, count);
                 });
  }
  const auto text = std::make_shared<const TokenText>(source, vocabulary_of(source));
  const std::size_t starts = text->starts.size();
  check_windows(source, starts == 0 ? 0 : starts - 1, std::to_string(text->tokens) + " tokens");
  return split(spec_of(source, text->vocabulary.size()), starts - 1,
               [&](std::size_t first, std::size_t count) {
                 return std::make_shared<TokenWindows>(text, first, count);
               });
}

ExampleSpec text_spec(std::string_view arguments) {
  const Source source = parse(arguments);
  if (!source.of_bytes()) return spec_of(source, vocabulary_of(source).size());
  (void)windows_of_bytes(source);
  return spec_of(source, kBytes);
}

std::string absolute_text(std::string_view arguments) {
  const Source source = parse(arguments);
  const std::string how(arguments.substr(source.file.size()));
  const std::string file = std::filesystem::absolute(source.file).lexically_normal().string();
  if (source.vocabulary.empty()) return file + how;
  return file + how.substr(0, how.size() - source.vocabulary.size()) +
         std::filesystem::absolute(source.vocabulary).lexically_normal().string();
}

}  // namespace fast
