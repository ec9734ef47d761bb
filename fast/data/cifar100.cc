#include "fast/data/cifar100.h"

#include <system_error>

#include "fast/data/cifar_records.h"
#include "fast/data/file_bytes.h"
#include "fast/errors.h"

namespace fast {
namespace {

constexpr CifarFormat kFormat{2, 100,
                              "get cifar-100-binary.tar.gz from "
                              "https://www.cs.toronto.edu/~kriz/cifar.html, unpack it, and give "
                              "the folder that holds train.bin and test.bin"};

struct Files {
  std::filesystem::path train, test;
};

Files find_files(const std::filesystem::path& directory) {
  std::error_code error;
  if (!std::filesystem::is_directory(directory, error)) {
    throw DataError("no CIFAR-100 data: " + directory.string() + " is no directory",
                    kFormat.how_to_get);
  }
  const auto nested = directory / "cifar-100-binary";
  const bool unpacked_here = std::filesystem::exists(directory / "test.bin", error) ||
                             !std::filesystem::is_directory(nested, error);
  const std::filesystem::path root = unpacked_here ? directory : nested;
  Files files{root / "train.bin", root / "test.bin"};
  for (const auto& file : {files.train, files.test}) {
    check_cifar_size(kFormat, data_file_size(file, kFormat.how_to_get), file.string());
  }
  return files;
}

}  // namespace

ImageDataset load_cifar100(const std::filesystem::path& directory, const ChooseExamples& choose) {
  const Files files = find_files(directory);
  ImageDataset data;
  data.train = read_cifar_files(kFormat, {files.train}, choose);
  data.test =
      choose ? leave_cifar_file(kFormat, files.test) : read_cifar_files(kFormat, {files.test});
  // Of the 50,000 training images; the values in general use.
  data.mean = {0.5071F, 0.4865F, 0.4409F, 0};
  data.deviation = {0.2673F, 0.2564F, 0.2762F, 1};
  data.crop_and_flip = true;
  return data;
}

ImageShape cifar100_shape(const std::filesystem::path& directory) {
  (void)find_files(directory);
  return kFormat.shape();
}

}  // namespace fast
