#include "fast/data/mnist.h"

#include <algorithm>
#include <array>
#include <string>
#include <system_error>
#include <vector>

#include "fast/data/file_bytes.h"
#include "fast/errors.h"

namespace fast {
namespace {

constexpr std::uint32_t kImagesMagic = 0x00000803;
constexpr std::uint32_t kLabelsMagic = 0x00000801;
constexpr std::uint32_t kMaxSide = 1024;
constexpr char kHowToGet[] =
    "get the four files train-images-idx3-ubyte.gz, train-labels-idx1-ubyte.gz, "
    "t10k-images-idx3-ubyte.gz and t10k-labels-idx1-ubyte.gz of MNIST (or Fashion-MNIST) and give "
    "the folder that holds them";

std::string number(std::uint64_t value) {
  return std::to_string(value);
}

DataError wrong(const std::string& file, std::size_t offset, const std::string& what) {
  return DataError(file + ": at byte " + number(offset) + ": " + what, kHowToGet);
}

std::uint32_t big_endian(std::span<const std::uint8_t> bytes, std::size_t offset) {
  return static_cast<std::uint32_t>(bytes[offset]) << 24 |
         static_cast<std::uint32_t>(bytes[offset + 1]) << 16 |
         static_cast<std::uint32_t>(bytes[offset + 2]) << 8 | bytes[offset + 3];
}

/// Checks length and magic number and returns the count, which follows them in every IDX file.
std::uint32_t checked_count(std::span<const std::uint8_t> bytes, const std::string& file,
                            std::size_t header, std::uint32_t magic) {
  if (bytes.size() < header) {
    throw wrong(file, bytes.size(),
                "the file ends; a header of " + number(header) + " bytes was expected");
  }
  if (big_endian(bytes, 0) != magic) {
    throw wrong(file, 0,
                "the magic number is " + number(big_endian(bytes, 0)) + "; " + number(magic) +
                    " was expected");
  }
  const std::uint32_t count = big_endian(bytes, 4);
  if (count == 0) throw wrong(file, 4, "it holds nothing; at least one example was expected");
  return count;
}

void check_length(std::span<const std::uint8_t> bytes, const std::string& file,
                  std::uint64_t expected) {
  if (bytes.size() == expected) return;
  throw wrong(file, bytes.size(),
              (bytes.size() < expected ? "truncated: it ends, " : "the file goes on to there, ") +
                  std::string("but by its header it has ") + number(expected) + " bytes");
}

/// "train-images-idx3-ubyte" of "train-images.idx3-ubyte.gz".
std::string plain_name(const std::filesystem::path& file) {
  std::string name = file.filename().string();
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  std::ranges::replace(name, '.', '-');
  return name;
}

/// Finds the file of this name in one of its spellings; EMNIST's begin with "emnist-SPLIT-".
std::filesystem::path find_file(const std::filesystem::path& directory,
                                const std::vector<std::string>& names) {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const std::string name = plain_name(entry.path());
    for (const std::string& wanted : names) {
      if (name == wanted || (name.starts_with("emnist-") && name.ends_with("-" + wanted))) {
        found.push_back(entry.path());
      }
    }
  }
  if (found.empty()) {
    throw DataError("no MNIST data: neither " + names.front() + " nor " + names.front() +
                        ".gz is in " + directory.string(),
                    kHowToGet);
  }
  // A file that exists both packed and unpacked was found twice.
  std::ranges::sort(found);
  for (const auto& file : found) {
    if (plain_name(file) == plain_name(found.front())) continue;
    throw DataError(directory.string() + " holds several data sets: " +
                        found.front().filename().string() + " and " + file.filename().string(),
                    "give a folder that holds one");
  }
  return found.front();
}

struct Files {
  std::filesystem::path train_images, train_labels, test_images, test_labels;
};

Files find_files(const std::filesystem::path& directory) {
  std::error_code error;
  if (!std::filesystem::is_directory(directory, error)) {
    throw DataError("no MNIST data: " + directory.string() + " is no directory", kHowToGet);
  }
  return {find_file(directory, {"train-images-idx3-ubyte"}),
          find_file(directory, {"train-labels-idx1-ubyte"}),
          find_file(directory, {"t10k-images-idx3-ubyte", "test-images-idx3-ubyte"}),
          find_file(directory, {"t10k-labels-idx1-ubyte", "test-labels-idx1-ubyte"})};
}

std::vector<std::uint8_t> read_file(const std::filesystem::path& file) {
  std::vector<std::uint8_t> bytes;
  read_data_file(file, kHowToGet, bytes);
  return bytes;
}

ImageSet read_set(const std::filesystem::path& images, const std::filesystem::path& labels) {
  ImageSet set;
  parse_idx_images(read_file(images), images.string(), set);
  parse_idx_labels(read_file(labels), labels.string(), set);
  const std::size_t count = set.pixels.size() / set.shape.pixels();
  if (count != set.size()) {
    throw DataError(images.string() + " holds " + number(count) + " images, but " +
                        labels.string() + " " + number(set.size()) + " labels",
                    kHowToGet);
  }
  return set;
}

/// One more than the largest label, but at least as many as MNIST has: EMNIST has up to 62.
int classes_of(const ImageSet& train, const ImageSet& test) {
  int classes = kMnistClasses;
  for (const ImageSet* const set : {&train, &test}) {
    for (const std::uint8_t label : set->labels) classes = std::max(classes, label + 1);
  }
  return classes;
}

}  // namespace

IdxImagesHeader parse_idx_images_header(std::span<const std::uint8_t> bytes,
                                        const std::string& file) {
  const std::uint32_t count = checked_count(bytes, file, kIdxImagesHeader, kImagesMagic);
  std::array<int, 2> sides{};
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const std::size_t offset = 8 + 4 * i;
    const std::uint32_t side = big_endian(bytes, offset);
    if (side == 0 || side > kMaxSide) {
      throw wrong(
          file, offset,
          "an image side of " + number(side) + "; 1 to " + number(kMaxSide) + " was expected");
    }
    sides[i] = static_cast<int>(side);
  }
  return {count, sides[0], sides[1]};
}

void parse_idx_images(std::span<const std::uint8_t> bytes, const std::string& file, ImageSet& out) {
  const IdxImagesHeader header = parse_idx_images_header(bytes, file);
  const ImageShape shape{1, header.height, header.width, kMnistClasses};
  check_length(bytes, file, kIdxImagesHeader + std::uint64_t{header.count} * shape.pixels());
  out.shape = shape;
  const auto pixels = bytes.subspan(kIdxImagesHeader);
  out.pixels.assign(pixels.begin(), pixels.end());
}

void parse_idx_labels(std::span<const std::uint8_t> bytes, const std::string& file, ImageSet& out) {
  const std::uint32_t count = checked_count(bytes, file, kIdxLabelsHeader, kLabelsMagic);
  check_length(bytes, file, kIdxLabelsHeader + std::uint64_t{count});
  const auto labels = bytes.subspan(kIdxLabelsHeader);
  out.labels.assign(labels.begin(), labels.end());
}

ImageDataset load_mnist(const std::filesystem::path& directory) {
  const Files files = find_files(directory);
  ImageDataset data;
  data.train = read_set(files.train_images, files.train_labels);
  data.test = read_set(files.test_images, files.test_labels);
  const ImageShape &train = data.train.shape, &test = data.test.shape;
  if (train.height != test.height || train.width != test.width) {
    throw DataError(files.test_images.string() + " has images of " + number(test.height) + "x" +
                        number(test.width) + ", the training set of " + number(train.height) + "x" +
                        number(train.width),
                    kHowToGet);
  }
  data.train.shape.classes = data.test.shape.classes = classes_of(data.train, data.test);
  data.mean = {0.1307F, 0, 0, 0};  // of MNIST's training images; the values in general use
  data.deviation = {0.3081F, 1, 1, 1};
  return data;
}

ImageShape mnist_shape(const std::filesystem::path& directory) {
  const Files files = find_files(directory);
  std::vector<std::uint8_t> bytes;
  read_data_file(files.train_images, kHowToGet, bytes, kIdxImagesHeader);
  const IdxImagesHeader header = parse_idx_images_header(bytes, files.train_images.string());
  ImageSet train, test;
  parse_idx_labels(read_file(files.train_labels), files.train_labels.string(), train);
  parse_idx_labels(read_file(files.test_labels), files.test_labels.string(), test);
  return {1, header.height, header.width, classes_of(train, test)};
}

}  // namespace fast
