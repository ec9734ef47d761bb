#include "fast/data/cifar_records.h"

#include <algorithm>

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
                  const std::string& file, ImageSet& out) {
  check_cifar_size(format, bytes.size(), file);
  const std::size_t record = format.record(), records = bytes.size() / record;
  const auto label_of = [&](std::size_t i) { return bytes[i * record + format.labels - 1]; };
  for (std::size_t i = 0; i < records; ++i) {
    const unsigned label = label_of(i);
    if (label < static_cast<unsigned>(format.classes)) continue;
    throw DataError(file + ": record " + number(i) + " (at byte " + number(i * record) +
                        ") has label " + number(label) + "; 0 to " +
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

ImageSet read_cifar_files(const CifarFormat& format,
                          const std::vector<std::filesystem::path>& files) {
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
