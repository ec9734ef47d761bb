#include "fast/data/npy_header.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>
#include <utility>

#include "fast/errors.h"
#include "stencil/core/text.h"

namespace fast {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr char kSave[] = "save it by numpy.save(file, array)";

/// The dictionary of a header, as Python writes it:
///   {'descr': '<f4', 'fortran_order': False, 'shape': (60000, 28, 28), }
class Dictionary {
 public:
  Dictionary(std::string_view text, const std::string& file) : rest_(text), file_(file) {}

  NpyHeader parse() {
    NpyHeader header;
    bool type = false, order = false, shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr" && !std::exchange(type, true)) {
        read_type(header);
      } else if (key == "fortran_order" && !std::exchange(order, true)) {
        if (word() == "True") {
          throw DataError(file_ + " is in Fortran order",
                          "save it by numpy.save(file, numpy.ascontiguousarray(array))");
        }
      } else if (key == "shape" && !std::exchange(shape, true)) {
        header.shape = sides();
      } else {
        throw broken("key " + stencil::in_quotes(key) + " is unknown or there twice");
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (!type || !order || !shape) throw broken("it lacks descr, fortran_order or shape");
    return header;
  }

 private:
  [[nodiscard]] DataError broken(const std::string& why) const {
    return {file_ + " has no header of NumPy's: " + why, kSave};
  }
  void skip_spaces() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n'))
      rest_.remove_prefix(1);
  }
  bool accept(char sign) {
    skip_spaces();
    if (rest_.empty() || rest_.front() != sign) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char sign) {
    if (!accept(sign)) throw broken(std::string("a '") + sign + "' is missing");
  }
  std::string_view quoted() {
    expect('\'');
    const std::size_t end = rest_.find('\'');
    if (end == std::string_view::npos) throw broken("a quote has no end");
    const std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return text;
  }
  std::string_view word() {
    skip_spaces();
    const std::size_t end = std::min(rest_.find_first_of(",}"), rest_.size());
    const std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return text;
  }
  std::vector<std::int64_t> sides() {
    std::vector<std::int64_t> sides;
    expect('(');
    while (!accept(')')) {
      skip_spaces();
      std::int64_t side = -1;
      const char* const end = rest_.data() + rest_.size();
      const auto [next, error] = std::from_chars(rest_.data(), end, side);
      if (error != std::errc{} || side < 0) throw broken("a side of its shape is no number");
      rest_.remove_prefix(static_cast<std::size_t>(next - rest_.data()));
      sides.push_back(side);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return sides;
  }
  void read_type(NpyHeader& header) {
    if (accept('[')) throw unusable("a record of several fields");
    const std::string_view text = quoted();
    if (text.starts_with('>')) {
      throw DataError(file_ + " is big-endian (" + std::string(text) + ")",
                      "save it by numpy.save(file, array.astype(array.dtype.newbyteorder('<')))");
    }
    constexpr std::string_view kTypes[] = {"<f2", "<f4", "<f8", "|i1", "<i2", "<i4",
                                           "<i8", "|u1", "<u2", "<u4", "|b1"};
    if (std::ranges::find(kTypes, text) == std::end(kTypes)) throw unusable(std::string(text));
    header.kind = text[1];
    header.width = static_cast<std::size_t>(text[2] - '0');
  }
  [[nodiscard]] DataError unusable(const std::string& type) const {
    return {
        file_ + " holds elements of type " + stencil::in_quotes(type) + ", which are no data here",
        "save it by numpy.save(file, array.astype('float32')), or 'int64' for labels and tokens"};
  }

  std::string_view rest_;
  const std::string& file_;
};

/// Of the elements; nothing where they do not fit 64 bits.
std::size_t bytes_of(const NpyHeader& header, const std::string& file) {
  std::size_t bytes = header.width;
  for (const std::int64_t side : header.shape) {
    if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(side), &bytes)) {
      throw DataError(file + " says that it holds more bytes than there can be", kSave);
    }
  }
  return bytes;
}

}  // namespace

std::size_t NpyHeader::elements() const {
  std::size_t count = 1;
  for (const std::int64_t side : shape) count *= static_cast<std::size_t>(side);
  return count;
}

std::string NpyHeader::type() const {
  if (kind == 'b') return "bool";
  return (kind == 'f' ? "float" : kind == 'i' ? "int" : "uint") + std::to_string(8 * width);
}

NpyHeader parse_npy_header(std::span<const std::uint8_t> beginning, std::size_t file_size,
                           const std::string& file) {
  const std::string_view bytes(reinterpret_cast<const char*>(beginning.data()), beginning.size());
  if (!bytes.starts_with(kMagic) || bytes.size() < 10) {
    throw DataError(file + " is no .npy file: it does not begin as one", kSave);
  }
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(beginning[i]); };
  const std::size_t version = byte(6);
  if (version < 1 || version > 3) {
    throw DataError(file + " is of version " + std::to_string(version) + " of NumPy's format",
                    "versions 1 to 3 are known; " + std::string(kSave));
  }
  const std::size_t begin = version == 1 ? 10 : 12;
  std::size_t size = byte(8) | byte(9) << 8U;
  if (version > 1 && bytes.size() >= begin) size |= byte(10) << 16U | byte(11) << 24U;
  if (bytes.size() < begin || size > bytes.size() - begin) {
    throw DataError(file + " ends within its header, or that has more than " +
                        std::to_string(kNpyHeaderMost) + " bytes",
                    kSave);
  }
  NpyHeader header = Dictionary(bytes.substr(begin, size), file).parse();
  header.data_at = begin + size;
  const std::size_t there = file_size - std::min(file_size, header.data_at);
  if (const std::size_t said = bytes_of(header, file); said != there) {
    throw DataError(file + " has " + std::to_string(there) +
                        " bytes of elements, and its header says " + std::to_string(said),
                    there < said ? "it is truncated: copy it again" : kSave);
  }
  return header;
}

}  // namespace fast
