#include "fast/data/cifar100.h"

#include <gmock/gmock.h>

#include "fast/data/dataset.h"
#include "fast/errors.h"
#include "tests/support/cifar_files.h"

namespace fast {
namespace {

using ::testing::AllOf;
using testing::Bytes;
using ::testing::HasSubstr;
using testing::TemporaryFolder;
using testing::write_bytes;

/// Records with the coarse label 1 and fine labels going round 0..99.
Bytes records(std::size_t count) {
  Bytes bytes;
  for (std::size_t i = 0; i < count; ++i) {
    bytes.push_back(1);
    bytes.push_back(static_cast<std::uint8_t>(i % 100));
    bytes.insert(bytes.end(), 3072, static_cast<std::uint8_t>(i));
  }
  return bytes;
}

template <typename Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const DataError& error) {
    return error.what();
  }
  ADD_FAILURE() << "no DataError was thrown";
  return "";
}

TEST(Cifar100, TheFineLabelCounts) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "cifar-100-binary");
  write_bytes(folder.path() / "cifar-100-binary" / "train.bin", records(120));
  write_bytes(folder.path() / "cifar-100-binary" / "test.bin", records(7));
  const ImageDataset data = load_cifar100(folder.path());
  ASSERT_EQ(data.train.size(), 120U);
  EXPECT_EQ(data.test.size(), 7U);
  EXPECT_EQ(data.train.labels[99], 99);
  EXPECT_EQ(data.train.labels[101], 1);
  EXPECT_EQ(data.train.image(101)[0], 101);
  EXPECT_EQ(data.train.shape.classes, 100);
  EXPECT_EQ(cifar100_shape(folder.path()).classes, 100);
  EXPECT_EQ(load_images("cifar100:" + folder.path().string(), 1).train.size(), 120U);
}

TEST(Cifar100, WhatIsMissingCutOrOutOfRangeIsNamed) {
  const TemporaryFolder folder;
  EXPECT_THAT(message_of([&] { (void)load_cifar100(folder.path()); }),
              AllOf(HasSubstr("train.bin"), HasSubstr("cifar-100-binary.tar.gz")));
  Bytes bytes = records(3);
  write_bytes(folder.path() / "test.bin", bytes);
  bytes[2 * 3074 + 1] = 100;
  write_bytes(folder.path() / "train.bin", bytes);
  EXPECT_THAT(message_of([&] { (void)load_cifar100(folder.path()); }),
              AllOf(HasSubstr("record 2"), HasSubstr("label 100"), HasSubstr("0 to 99")));
  bytes.pop_back();
  write_bytes(folder.path() / "train.bin", bytes);
  EXPECT_THAT(message_of([&] { (void)cifar100_shape(folder.path()); }), HasSubstr("truncated"));
}

}  // namespace
}  // namespace fast
