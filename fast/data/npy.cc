#include "fast/data/npy.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "fast/data/file_bytes.h"
#include "fast/data/npy_header.h"
#include "fast/errors.h"
#include "stencil/core/half_floats.h"

namespace fast {
namespace {

static_assert(std::endian::native == std::endian::little, "elements of .npy files are read as is");

constexpr char kFiles[] =
    "give a folder with train-x.npy, train-y.npy, test-x.npy and test-y.npy, saved by numpy.save";
/// More classes than any model has; a larger label is a mistake.
constexpr std::int64_t kMostClasses = 1 << 24;

/// Calls `use` with a value of the type of the file's elements.
template <typename Use>
void with_element(const NpyHeader& header, Use use) {
  const bool is_signed = header.kind == 'i';
  switch (header.kind == 'f' ? 8 + header.width : header.width) {
    case 1:
      return is_signed ? use(std::int8_t{}) : use(std::uint8_t{});
    case 2:
      return is_signed ? use(std::int16_t{}) : use(std::uint16_t{});
    case 4:
      return is_signed ? use(std::int32_t{}) : use(std::uint32_t{});
    case 8:
      return use(std::int64_t{});
    case 12:
      return use(float{});
    default:
      return use(double{});
  }
}

/// An .npy file of which examples are read. One thread.
class NpyFile {
 public:
  explicit NpyFile(const std::filesystem::path& path)
      : name_(path.string()), file_(path, kFiles), header_(header_of(path, file_)) {
    if (header_.shape.empty() || header_.shape[0] == 0) {
      throw DataError(name_ + " holds no examples: its shape is that of " +
                          (header_.shape.empty() ? "one number" : "an empty array"),
                      "its first axis is to be the examples");
    }
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const NpyHeader& header() const { return header_; }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(header_.shape[0]); }
  [[nodiscard]] std::vector<std::int64_t> example_shape() const {
    return {header_.shape.begin() + 1, header_.shape.end()};
  }
  [[nodiscard]] std::size_t held() const { return bytes_.capacity(); }

  /// Writes `count` examples from `first` on. Bytes become 0 to 1 in floats.
  void read(std::size_t first, std::size_t count, std::span<float> out) const {
    fetch(first, count);
    if (header_.kind == 'f' && header_.width == 2) {
      for (std::size_t i = 0; i < out.size(); ++i) {
        std::uint16_t half = 0;
        std::memcpy(&half, bytes_.data() + 2 * i, 2);
        out[i] = stencil::float_from_half(half);
      }
      return;
    }
    const float scale = header_.kind == 'u' && header_.width == 1 ? 1.0F / 255 : 1;
    convert(out, [scale](auto value) { return static_cast<float>(value) * scale; });
  }
  void read(std::size_t first, std::size_t count, std::span<std::int64_t> out) const {
    fetch(first, count);
    convert(out, [](auto value) { return static_cast<std::int64_t>(value); });
  }

 private:
  static NpyHeader header_of(const std::filesystem::path& path, const DataFile& file) {
    const std::size_t size = file.size();
    std::vector<std::uint8_t> beginning(std::min(size, kNpyHeaderMost));
    file.read(0, beginning);
    return parse_npy_header(beginning, size, path.string());
  }
  void fetch(std::size_t first, std::size_t count) const {
    const std::size_t each = header_.elements() / size() * header_.width;
    bytes_.resize(count * each);
    file_.read(header_.data_at + first * each, bytes_);
  }
  template <typename Out, typename Convert>
  void convert(std::span<Out> out, Convert one) const {
    with_element(header_, [&](auto element) {
      for (std::size_t i = 0; i < out.size(); ++i) {
        std::memcpy(&element, bytes_.data() + i * sizeof element, sizeof element);
        out[i] = one(element);
      }
    });
  }

  std::string name_;
  DataFile file_;
  NpyHeader header_;
  mutable std::vector<std::uint8_t> bytes_;
};

/// What learners get of such a file. Bytes that are inputs are images.
ArraySpec array_of(const NpyFile& file, bool target) {
  const NpyHeader& header = file.header();
  const bool bytes = header.kind == 'u' && header.width == 1;
  const bool numbers = header.kind == 'f' || (bytes && !target);
  return {numbers ? ValueType::kFloat32 : ValueType::kInt64, file.example_shape()};
}

bool holds_labels(const NpyFile& targets) {
  return targets.header().kind != 'f' && targets.header().elements() == targets.size();
}

/// Inputs and targets of one file pair.
class NpyExamples final : public ExampleSet {
 public:
  NpyExamples(const std::filesystem::path& directory, const std::string& part)
      : inputs_(directory / (part + "-x.npy")), targets_(directory / (part + "-y.npy")) {
    if (inputs_.size() != targets_.size()) {
      throw DataError(inputs_.name() + " holds " + std::to_string(inputs_.size()) +
                          " examples, and " + targets_.name() + " targets for " +
                          std::to_string(targets_.size()),
                      "save as many of each");
    }
    if (holds_labels(targets_)) read_labels();
  }

  [[nodiscard]] const NpyFile& inputs() const { return inputs_; }
  [[nodiscard]] const NpyFile& targets() const { return targets_; }
  [[nodiscard]] bool has_labels() const { return !labels_.empty(); }

  [[nodiscard]] std::size_t size() const override { return inputs_.size(); }
  [[nodiscard]] std::vector<std::uint32_t> labels() const override {
    return has_labels() ? labels_ : std::vector<std::uint32_t>(size());
  }
  [[nodiscard]] std::size_t bytes() const override {
    return labels_.capacity() * sizeof labels_[0] + inputs_.held() + targets_.held();
  }
  void write(std::size_t first, std::size_t count, stencil::Random* /*random*/,
             const ValuesOut& inputs, const ValuesOut& targets) const override {
    std::visit([&](auto out) { inputs_.read(first, count, out); }, inputs);
    if (has_labels()) {
      const auto begin = labels_.begin() + static_cast<std::ptrdiff_t>(first);
      std::copy_n(begin, count, std::get<std::span<std::int64_t>>(targets).begin());
      return;
    }
    std::visit([&](auto out) { targets_.read(first, count, out); }, targets);
  }

 private:
  void read_labels() {
    constexpr std::size_t kPiece = 65536;
    std::vector<std::int64_t> piece;
    labels_.reserve(targets_.size());
    for (std::size_t first = 0; first < targets_.size(); first += piece.size()) {
      piece.resize(std::min(kPiece, targets_.size() - first));
      targets_.read(first, piece.size(), std::span(piece));
      for (const std::int64_t label : piece) {
        if (label < 0 || label >= kMostClasses) {
          throw DataError(targets_.name() + ": label " + std::to_string(label) + " of example " +
                              std::to_string(labels_.size()),
                          "labels go from 0 to the number of classes less one; targets that are no "
                          "labels are saved as floats");
        }
        labels_.push_back(static_cast<std::uint32_t>(label));
      }
    }
  }

  NpyFile inputs_, targets_;
  std::vector<std::uint32_t> labels_;
};

/// Throws DataError where the two files do not hold the same kind of examples.
void check_alike(const NpyFile& train, const NpyFile& test) {
  if (train.example_shape() == test.example_shape() &&
      train.header().type() == test.header().type())
    return;
  const auto told = [](const NpyFile& file) {
    return file.header().type() + " " + in_words({.shape = file.example_shape()}).substr(8);
  };
  throw DataError("an example of " + train.name() + " is " + told(train) + ", and one of " +
                      test.name() + " is " + told(test),
                  "save both with the same type and shape");
}

}  // namespace

Dataset load_npy(const std::filesystem::path& directory) {
  auto train = std::make_shared<NpyExamples>(directory, "train");
  auto test = std::make_shared<NpyExamples>(directory, "test");
  check_alike(train->inputs(), test->inputs());
  check_alike(train->targets(), test->targets());
  Dataset data;
  data.spec.input = array_of(train->inputs(), false);
  data.spec.target = array_of(train->targets(), true);
  if (train->has_labels()) {
    data.spec.target.shape.clear();
    for (const auto& part : {train, test}) {
      const std::vector<std::uint32_t> labels = part->labels();
      data.spec.classes =
          std::max(data.spec.classes, static_cast<int>(std::ranges::max(labels)) + 1);
    }
  }
  data.train = std::move(train);
  data.test = std::move(test);
  return data;
}

ExampleSpec npy_spec(const std::filesystem::path& directory) {
  return load_npy(directory).spec;
}

}  // namespace fast
