#include "fast/data/cifar10.h"

#include <algorithm>
#include <string>
#include <system_error>
#include <vector>

#include "fast/data/cifar_records.h"
#include "fast/data/file_bytes.h"
#include "fast/errors.h"

namespace fast {
namespace {

constexpr int kMaxBatches = 5;
constexpr CifarFormat kFormat{1, kCifar10Shape.classes,
                              "get cifar-10-binary.tar.gz from "
                              "https://www.cs.toronto.edu/~kriz/cifar.html, unpack it, and give "
                              "the folder that holds data_batch_1.bin and test_batch.bin"};

struct Files {
  std::vector<std::filesystem::path> train;
  std::filesystem::path test;
};

/// Finds the files and checks their sizes; reads no data.
Files find_files(const std::filesystem::path& directory) {
  std::error_code error;
  if (!std::filesystem::is_directory(directory, error)) {
    throw DataError("no CIFAR-10 data: " + directory.string() + " is no directory",
                    kFormat.how_to_get);
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
  int last = 1;  // the first one is required; the later ones may be missing
  for (int i = 2; i <= kMaxBatches; ++i) {
    if (std::filesystem::exists(batch(i), error)) last = i;
  }
  for (int i = 1; i <= last; ++i) files.train.push_back(batch(i));
  const auto check = [](const std::filesystem::path& file) {
    check_cifar_size(kFormat, data_file_size(file, kFormat.how_to_get), file.string());
  };
  std::ranges::for_each(files.train, check);
  check(files.test);
  return files;
}

}  // namespace

void append_cifar10(std::span<const std::uint8_t> bytes, const std::string& file, ImageSet& out) {
  append_cifar(kFormat, bytes, file, out);
}

ImageDataset load_cifar10(const std::filesystem::path& directory, const ChooseExamples& choose) {
  const Files files = find_files(directory);
  ImageDataset data;
  data.train = read_cifar_files(kFormat, files.train, choose);
  data.test =
      choose ? leave_cifar_file(kFormat, files.test) : read_cifar_files(kFormat, {files.test});
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
