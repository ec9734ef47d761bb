#include "fast/data/cifar10.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "fast/errors.h"
#include "stencil/core/random.h"
#include "tests/support/cifar_files.h"

namespace fast {
namespace {

using ::testing::AllOf;
using testing::Bytes;
using testing::cifar10_bytes;
using ::testing::HasSubstr;
using testing::TemporaryFolder;
using testing::write_bytes;
using testing::write_cifar10;

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

TEST(Cifar10, RecordsComeBackAsTheyWereWritten) {
  const Bytes bytes = cifar10_bytes(25, 3);
  ImageSet set;
  set.shape = kCifar10Shape;
  append_cifar10(bytes, "f", set);
  append_cifar10(bytes, "f", set);
  ASSERT_EQ(set.size(), 50U);
  ASSERT_EQ(set.pixels.size(), 50U * 3072U);
  for (std::size_t i = 0; i < 50; ++i) {
    const auto record = std::span(bytes).subspan(i % 25 * kCifar10Record, kCifar10Record);
    ASSERT_EQ(set.labels[i], record[0]);
    ASSERT_TRUE(std::ranges::equal(set.image(i), record.subspan(1)));
  }
}

TEST(Cifar10, ATruncatedRecordIsRefusedAndTheSetLeftAsItWas) {
  const Bytes bytes = cifar10_bytes(3, 1);
  for (const std::size_t size :
       {std::size_t{1}, kCifar10Record - 1, kCifar10Record + 1, 2 * kCifar10Record + 7}) {
    ImageSet set;
    set.shape = kCifar10Shape;
    const std::string text =
        message_of([&] { append_cifar10(std::span(bytes).first(size), "half.bin", set); });
    EXPECT_THAT(text, AllOf(HasSubstr("half.bin"), HasSubstr("truncated"),
                            HasSubstr("record " + std::to_string(size / kCifar10Record)),
                            HasSubstr("3073")));
    EXPECT_EQ(set.size(), 0U);
    EXPECT_TRUE(set.pixels.empty());
  }
}

TEST(Cifar10, ALabelOutOfRangeNamesItsRecord) {
  Bytes bytes = cifar10_bytes(8, 1);
  bytes[5 * kCifar10Record] = 10;
  ImageSet set;
  set.shape = kCifar10Shape;
  EXPECT_THAT(message_of([&] { append_cifar10(bytes, "bad.bin", set); }),
              AllOf(HasSubstr("bad.bin"), HasSubstr("record 5"), HasSubstr("label 10"),
                    HasSubstr(std::to_string(5 * kCifar10Record))));
  EXPECT_EQ(set.size(), 0U);
}

TEST(Cifar10, AnyBytesEitherParseWholeOrThrow) {
  const auto seed = static_cast<std::uint64_t>(::testing::UnitTest::GetInstance()->random_seed());
  SCOPED_TRACE("seed " + std::to_string(seed));
  stencil::Random random(seed);
  for (int round = 0; round < 200; ++round) {
    Bytes bytes = cifar10_bytes(1 + random.below(3), seed);
    if (random.below(2) == 0) bytes.resize(random.below(bytes.size() + 1));
    const std::size_t changes = random.below(4);
    for (std::size_t i = 0; i < changes && !bytes.empty(); ++i) {
      bytes[random.below(bytes.size()) / kCifar10Record * kCifar10Record] =
          static_cast<std::uint8_t>(random.below(12));
    }
    ImageSet set;
    set.shape = kCifar10Shape;
    try {
      append_cifar10(bytes, "any", set);
      ASSERT_EQ(set.size() * kCifar10Record, bytes.size());
      for (const auto label : set.labels) ASSERT_LT(label, 10);
    } catch (const DataError&) {
      ASSERT_EQ(set.size(), 0U);
    }
  }
}

TEST(Cifar10, AFolderWithSomeOfTheBatchesIsReadInOrder) {
  const TemporaryFolder folder;
  write_cifar10(folder.path(), 3, 20, 11);
  const ImageDataset data = load_cifar10(folder.path());
  EXPECT_EQ(data.train.size(), 60U);
  EXPECT_EQ(data.test.size(), 11U);
  EXPECT_EQ(data.train.shape.classes, 10);
  EXPECT_TRUE(data.crop_and_flip);
  const Bytes second = cifar10_bytes(20, stencil::Random::derive(1, 2));
  EXPECT_TRUE(std::ranges::equal(data.train.image(20), std::span(second).subspan(1, 3072)));
}

TEST(Cifar10, TheFolderInsideTheArchiveIsFound) {
  const TemporaryFolder folder;
  write_cifar10(folder.path() / "cifar-10-batches-bin", 1, 10, 10);
  EXPECT_EQ(load_cifar10(folder.path()).train.size(), 10U);
}

TEST(Cifar10, AMissingFolderSaysHowToGetTheData) {
  EXPECT_THAT(message_of([] { (void)load_cifar10("/nowhere/at/all"); }),
              AllOf(HasSubstr("/nowhere/at/all"), HasSubstr("cifar-10-binary.tar.gz")));
}

TEST(Cifar10, AMissingBatchIsNamed) {
  const TemporaryFolder folder;
  write_cifar10(folder.path(), 3, 10, 10);
  std::filesystem::remove(folder.path() / "data_batch_2.bin");
  EXPECT_THAT(message_of([&] { (void)load_cifar10(folder.path()); }),
              HasSubstr("data_batch_2.bin"));
  std::filesystem::remove(folder.path() / "data_batch_3.bin");
  std::filesystem::remove(folder.path() / "data_batch_1.bin");
  EXPECT_THAT(message_of([&] { (void)load_cifar10(folder.path()); }),
              HasSubstr("data_batch_1.bin"));
}

TEST(Cifar10, AMissingTestBatchIsNamed) {
  const TemporaryFolder folder;
  write_cifar10(folder.path(), 1, 10, 10);
  std::filesystem::remove(folder.path() / "test_batch.bin");
  EXPECT_THAT(message_of([&] { (void)load_cifar10(folder.path()); }), HasSubstr("test_batch.bin"));
}

TEST(Cifar10, ATruncatedFileIsFoundBeforeTheDataIsRead) {
  const TemporaryFolder folder;
  write_cifar10(folder.path(), 2, 10, 10);
  Bytes half = cifar10_bytes(10, 1);
  half.resize(half.size() - 100);
  write_bytes(folder.path() / "data_batch_2.bin", half);
  const auto matches = AllOf(HasSubstr("data_batch_2.bin"), HasSubstr("truncated"));
  EXPECT_THAT(message_of([&] { (void)cifar10_shape(folder.path()); }), matches);
  EXPECT_THAT(message_of([&] { (void)load_cifar10(folder.path()); }), matches);
  write_bytes(folder.path() / "data_batch_2.bin", Bytes{});
  EXPECT_THAT(message_of([&] { (void)load_cifar10(folder.path()); }), HasSubstr("empty"));
}

}  // namespace
}  // namespace fast
