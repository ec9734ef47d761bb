#include "fast/data/cifar10.h"

#include <algorithm>
#include <string>
#include <system_error>
#include <vector>

#include "fast/data/file_bytes.h"
#include "fast/errors.h"

namespace fast {
namespace {

constexpr int kMaxBatches = 5;
constexpr char kHowToGet[] =
    "get cifar-10-binary.tar.gz from https://www.cs.toronto.edu/~kriz/cifar.html, unpack it, and "
    "give the folder that holds data_batch_1.bin and test_batch.bin";

std::string number(std::size_t value) {
  return std::to_string(value);
}

void check_size(std::size_t size, const std::string& file) {
  if (size == 0) throw DataError(file + " is empty", kHowToGet);
  const std::size_t rest = size % kCifar10Record;
  if (rest == 0) return;
  throw DataError(file + ": truncated: " + number(size) + " bytes end " + number(rest) +
                      " bytes into record " + number(size / kCifar10Record) + " (at byte " +
                      number(size - rest) + "); a multiple of " + number(kCifar10Record) +
                      " was expected",
                  kHowToGet);
}

struct Files {
  std::vector<std::filesystem::path> train;
  std::filesystem::path test;
};

/// Names and sizes only.
Files find_files(const std::filesystem::path& directory) {
  std::error_code error;
  if (!std::filesystem::is_directory(directory, error)) {
    throw DataError("no CIFAR-10 data: " + directory.string() + " is no directory", kHowToGet);
  }
  std::filesystem::path root = directory;
  const auto nested = directory / "cifar-10-batches-bin";
  if (!std::filesystem::exists(root / "test_batch.bin", error) &&
      std::filesystem::is_directory(nested, error)) {
    root = nested;
  }
  Files files;
  files.test = root / "test_batch.bin";
  const auto batch = [&](int i) { return root / ("data_batch_" + std::to_string(i) + ".bin"); };
  int last = 1;  // the first one is demanded, later ones only up to the last that is there
  for (int i = 2; i <= kMaxBatches; ++i) {
    if (std::filesystem::exists(batch(i), error)) last = i;
  }
  for (int i = 1; i <= last; ++i) files.train.push_back(batch(i));
  for (const auto& file : files.train) check_size(data_file_size(file, kHowToGet), file.string());
  check_size(data_file_size(files.test, kHowToGet), files.test.string());
  return files;
}

ImageSet read_set(const std::vector<std::filesystem::path>& files) {
  ImageSet set;
  set.shape = kCifar10Shape;
  std::size_t records = 0;
  for (const auto& file : files) records += data_file_size(file, kHowToGet) / kCifar10Record;
  set.pixels.reserve(records * kCifar10Shape.pixels());
  set.labels.reserve(records);
  std::vector<std::uint8_t> bytes;
  for (const auto& file : files) {
    read_data_file(file, kHowToGet, bytes);
    append_cifar10(bytes, file.string(), set);
  }
  return set;
}

}  // namespace

void append_cifar10(std::span<const std::uint8_t> bytes, const std::string& file, ImageSet& out) {
  check_size(bytes.size(), file);
  const std::size_t records = bytes.size() / kCifar10Record;
  for (std::size_t i = 0; i < records; ++i) {
    const unsigned label = bytes[i * kCifar10Record];
    if (label < static_cast<unsigned>(kCifar10Shape.classes)) continue;
    throw DataError(file + ": record " + number(i) + " (at byte " + number(i * kCifar10Record) +
                        ") has label " + number(label) + "; 0 to 9 was expected",
                    kHowToGet);
  }
  const std::size_t before = out.size();
  out.labels.resize(before + records);
  out.pixels.resize((before + records) * kCifar10Shape.pixels());
  for (std::size_t i = 0; i < records; ++i) {
    const auto record = bytes.subspan(i * kCifar10Record, kCifar10Record);
    out.labels[before + i] = record[0];
    std::copy(
        record.begin() + 1, record.end(),
        out.pixels.begin() + static_cast<std::ptrdiff_t>((before + i) * kCifar10Shape.pixels()));
  }
}

Dataset load_cifar10(const std::filesystem::path& directory) {
  const Files files = find_files(directory);
  Dataset data;
  data.train = read_set(files.train);
  data.test = read_set({files.test});
  // Of the 50,000 training images; the values in general use.
  data.mean = {0.4914F, 0.4822F, 0.4465F, 0};
  data.deviation = {0.2470F, 0.2435F, 0.2616F, 1};
  data.crop_and_flip = true;
  return data;
}

ImageShape cifar10_shape(const std::filesystem::path& directory) {
  (void)find_files(directory);
  return kCifar10Shape;
}

}  // namespace fast
