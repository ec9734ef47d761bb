#include "fast/data/text.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <utility>

#include "fast/data/file_bytes.h"
#include "fast/errors.h"
#include "stencil/core/text.h"

namespace fast {
namespace {

constexpr std::int64_t kLength = 128, kMostLength = 1 << 20;
constexpr int kBytes = 256;
/// One window of so many is for testing.
constexpr std::size_t kOneOf = 10;

struct Source {
  std::string file;
  std::int64_t length = kLength;
};

/// What follows the last comma is the length where it is a number: names may hold commas.
Source parse(std::string_view arguments) {
  Source source{.file = std::string(arguments)};
  const std::size_t comma = arguments.rfind(',');
  if (comma == std::string_view::npos) return source;
  const std::string_view number = arguments.substr(comma + 1);
  const char* const end = number.data() + number.size();
  const auto [next, error] = std::from_chars(number.data(), end, source.length);
  if (next == number.data()) return source;
  if (error != std::errc{} || next != end || source.length < 1 || source.length > kMostLength) {
    throw ConfigError("the length of its windows is " + stencil::in_quotes(number),
                      "use 1 to " + std::to_string(kMostLength) + " bytes");
  }
  source.file = arguments.substr(0, comma);
  return source;
}

/// Consecutive windows of a file. One thread.
class Windows final : public ExampleSet {
 public:
  Windows(const Source& source, std::size_t first, std::size_t count)
      : file_(source.file, "give a file of text"),
        length_(static_cast<std::size_t>(source.length)),
        first_(first),
        count_(count) {}

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

}  // namespace

Dataset load_text(std::string_view arguments) {
  const Source source = parse(arguments);
  const std::size_t size = DataFile(source.file, "give a file of text").size();
  // The byte after the last window is a target, too.
  const std::size_t windows = size == 0 ? 0 : (size - 1) / static_cast<std::size_t>(source.length);
  if (windows < 2 || windows > std::numeric_limits<std::uint32_t>::max()) {
    throw DataError(source.file + " has " + std::to_string(size) + " bytes, which are " +
                        std::to_string(windows) + " windows of " + std::to_string(source.length),
                    windows < 2 ? "use a longer text, or text:FILE,LENGTH with a smaller length"
                                : "use text:FILE,LENGTH with a larger length");
  }
  const std::size_t tested = std::max<std::size_t>(1, windows / kOneOf);
  Dataset data;
  data.spec.input = data.spec.target = {ValueType::kInt64, {source.length}};
  data.spec.classes = kBytes;
  data.train = std::make_shared<Windows>(source, 0, windows - tested);
  data.test = std::make_shared<Windows>(source, windows - tested, tested);
  return data;
}

ExampleSpec text_spec(std::string_view arguments) {
  return load_text(arguments).spec;
}

}  // namespace fast
