#include "fast/data/cifar_records.h"

#include <algorithm>
#include <deque>
#include <memory>

#include "fast/data/file_bytes.h"
#include "fast/errors.h"

namespace fast {
namespace {

std::string number(std::size_t value) {
  return std::to_string(value);
}

}  // namespace

void check_cifar_size(const CifarFormat& format, std::size_t size, const std::string& file) {
  if (size == 0) throw DataError(file + " is empty", format.how_to_get);
  const std::size_t record = format.record(), rest = size % record;
  if (rest == 0) return;
  throw DataError(file + ": truncated: " + number(size) + " bytes end " + number(rest) +
                      " bytes into record " + number(size / record) + " (at byte " +
                      number(size - rest) + "); a multiple of " + number(record) + " was expected",
                  format.how_to_get);
}

void append_cifar(const CifarFormat& format, std::span<const std::uint8_t> bytes,
                  const std::string& file, ImageSet& out, std::size_t first) {
  check_cifar_size(format, bytes.size(), file);
  const std::size_t record = format.record(), records = bytes.size() / record;
  const auto label_of = [&](std::size_t i) { return bytes[i * record + format.labels - 1]; };
  for (std::size_t i = 0; i < records; ++i) {
    const unsigned label = label_of(i);
    if (label < static_cast<unsigned>(format.classes)) continue;
    throw DataError(file + ": record " + number(first + i) + " (at byte " +
                        number((first + i) * record) + ") has label " + number(label) + "; 0 to " +
                        std::to_string(format.classes - 1) + " was expected",
                    format.how_to_get);
  }
  const std::size_t before = out.size(), pixels = format.shape().pixels();
  out.labels.resize(before + records);
  out.pixels.resize((before + records) * pixels);
  for (std::size_t i = 0; i < records; ++i) {
    out.labels[before + i] = label_of(i);
    const auto image = bytes.subspan(i * record + format.labels, pixels);
    std::ranges::copy(image,
                      out.pixels.begin() + static_cast<std::ptrdiff_t>((before + i) * pixels));
  }
}

namespace {

/// The records of one file, which are read when they are needed.
class CifarFile {
 public:
  CifarFile(const CifarFormat& format, const std::filesystem::path& file)
      : format_(format),
        name_(file.string()),
        records_(data_file_size(file, format.how_to_get) / format.record()),
        file_(file, format.how_to_get) {
    check_cifar_size(format, data_file_size(file, format.how_to_get), name_);
  }

  [[nodiscard]] std::size_t records() const { return records_; }
  /// Reads all of it once, piece by piece, for the labels.
  void append_labels(std::vector<std::uint16_t>& out) {
    std::vector<std::uint8_t> piece;
    ImageSet part;
    for (std::size_t first = 0; first < records_; first += kPiece) {
      piece.resize(std::min(kPiece, records_ - first) * format_.record());
      file_.read(first * format_.record(), piece);
      part.pixels.clear();
      part.labels.clear();
      append_cifar(format_, piece, name_, part, first);
      out.insert(out.end(), part.labels.begin(), part.labels.end());
    }
  }
  void read_image(std::size_t record, std::span<std::uint8_t> out) {
    file_.read(record * format_.record() + format_.labels, out);
  }

 private:
  static constexpr std::size_t kPiece = 64;  ///< records

  const CifarFormat& format_;
  std::string name_;
  std::size_t records_;
  DataFile file_;
};

ImageSet read_chosen(const CifarFormat& format, const std::vector<std::filesystem::path>& names,
                     const ChooseExamples& choose) {
  ImageSet set;
  set.shape = format.shape();
  std::deque<CifarFile> files;
  for (const auto& name : names) files.emplace_back(format, name).append_labels(set.labels);
  set.kept = choose(set.all_labels());
  std::ranges::sort(set.kept);
  const std::size_t pixels = set.shape.pixels();
  set.pixels.resize(set.kept.size() * pixels);
  auto file = files.begin();
  std::size_t before = 0;  // records of earlier files
  for (std::size_t i = 0; i < set.kept.size(); ++i) {
    while (set.kept[i] - before >= file->records()) before += file++->records();
    file->read_image(set.kept[i] - before, std::span(set.pixels).subspan(i * pixels, pixels));
  }
  if (set.kept.size() == set.size()) set.kept.clear();
  return set;
}

}  // namespace

ImageSet leave_cifar_file(const CifarFormat& format, const std::filesystem::path& name) {
  ImageSet set;
  set.shape = format.shape();
  const auto file = std::make_shared<CifarFile>(format, name);
  file->append_labels(set.labels);
  set.read = [file, pixels = set.shape.pixels()](std::size_t first, std::span<std::uint8_t> out) {
    for (; !out.empty(); out = out.subspan(pixels)) file->read_image(first++, out.first(pixels));
  };
  return set;
}

ImageSet read_cifar_files(const CifarFormat& format,
                          const std::vector<std::filesystem::path>& files,
                          const ChooseExamples& choose) {
  if (choose) return read_chosen(format, files, choose);
  ImageSet set;
  set.shape = format.shape();
  std::size_t records = 0;
  for (const auto& file : files) {
    records += data_file_size(file, format.how_to_get) / format.record();
  }
  set.pixels.reserve(records * set.shape.pixels());
  set.labels.reserve(records);
  std::vector<std::uint8_t> bytes;
  for (const auto& file : files) {
    read_data_file(file, format.how_to_get, bytes);
    append_cifar(format, bytes, file.string(), set);
  }
  return set;
}

}  // namespace fast
