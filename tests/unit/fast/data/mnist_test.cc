#include "fast/data/mnist.h"

#include <gmock/gmock.h>

#include <gtest/gtest.h>
#include <fstream>

#include <algorithm>

#include "fast/data/file_bytes.h"
#include "fast/errors.h"
#include "stencil/core/random.h"
#include "tests/support/cifar_files.h"

namespace fast {
namespace {

using ::testing::AllOf;
using testing::Bytes;
using testing::gzip;
using ::testing::HasSubstr;
using testing::idx_images_bytes;
using testing::idx_labels_bytes;
using testing::IdxSpelling;
using testing::TemporaryFolder;
using testing::write_bytes;
using testing::write_mnist;

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

std::string images_message(const Bytes& bytes) {
  return message_of([&] {
    ImageSet set;
    parse_idx_images(bytes, "images", set);
  });
}

TEST(Idx, ImagesAndLabelsComeBackAsTheyWereWritten) {
  const Bytes images = idx_images_bytes(12, 5, 7, 3);
  ImageSet set;
  parse_idx_images(images, "i", set);
  parse_idx_labels(idx_labels_bytes(12), "l", set);
  EXPECT_EQ(set.shape.channels, 1);
  EXPECT_EQ(set.shape.height, 5);
  EXPECT_EQ(set.shape.width, 7);
  EXPECT_EQ(set.size(), 12U);
  EXPECT_EQ(set.labels[11], 1);
  EXPECT_TRUE(std::ranges::equal(set.pixels, std::span(images).subspan(16)));
}

TEST(Idx, AWrongMagicNumberIsRefused) {
  EXPECT_THAT(images_message(idx_labels_bytes(20)),
              AllOf(HasSubstr("images"), HasSubstr("2049"), HasSubstr("2051")));
}

TEST(Idx, EveryTruncationIsRefused) {
  const Bytes whole = idx_images_bytes(2, 3, 3, 1);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(images_message({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}),
                HasSubstr("at byte " + std::to_string(size)));
  }
}

TEST(Idx, BytesAfterTheEndAreRefused) {
  Bytes bytes = idx_images_bytes(2, 3, 3, 1);
  bytes.push_back(0);
  EXPECT_THAT(images_message(bytes), HasSubstr("34 bytes"));
}

TEST(Idx, SizesThatClaimMoreThanThereIsTakeNoMemory) {
  Bytes bytes = idx_images_bytes(1, 2, 2, 1);
  std::fill(bytes.begin() + 4, bytes.begin() + 8, 0xff);
  EXPECT_THAT(images_message(bytes), HasSubstr("truncated"));
  std::fill(bytes.begin() + 8, bytes.begin() + 16, 0xff);
  EXPECT_THAT(images_message(bytes), AllOf(HasSubstr("at byte 8"), HasSubstr("1 to 1024")));
}

class GzipTest : public ::testing::Test {
 protected:
  /// As read from a file with this content.
  Bytes read(std::span<const std::uint8_t> content, std::size_t most = kMaxDataFile + 1) {
    const auto file = folder_.path() / "f.gz";
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(content.data()),
               static_cast<std::streamsize>(content.size()));
    Bytes bytes;
    read_data_file(file, "give another", bytes, most);
    return bytes;
  }
  TemporaryFolder folder_;
};

TEST_F(GzipTest, WhatWasPackedComesBack) {
  const auto seed = static_cast<std::uint64_t>(::testing::UnitTest::GetInstance()->random_seed());
  SCOPED_TRACE("seed " + std::to_string(seed));
  stencil::Random random(seed);
  for (int round = 0; round < 30; ++round) {
    Bytes bytes(random.below(300'000));
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random.below(4));
    EXPECT_EQ(read(gzip(bytes)), bytes);
    const std::size_t part = random.below(bytes.size() + 1);
    EXPECT_EQ(read(gzip(bytes), part),
              Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(part)));
  }
}

TEST_F(GzipTest, SeveralMembersAreOneFileAndPaddingIsPassedOver) {
  const Bytes first = idx_labels_bytes(500), second(70'000, 3);
  Bytes packed = gzip(first);
  for (const std::uint8_t byte : gzip(second)) packed.push_back(byte);
  packed.resize(packed.size() + 512);
  Bytes both = first;
  both.insert(both.end(), second.begin(), second.end());
  EXPECT_EQ(read(packed), both);
}

TEST_F(GzipTest, CutOffAndDamagedStreamsAreRefused) {
  const Bytes whole = gzip(idx_labels_bytes(500));
  for (std::size_t size = 2; size < whole.size(); ++size) {
    EXPECT_THAT(message_of([&] { (void)read(std::span(whole).first(size)); }),
                AllOf(HasSubstr("f.gz"), HasSubstr("ends too early")))
        << size;
  }
  Bytes damaged = whole;
  damaged[damaged.size() - 6] ^= 0x40;  // the checksum
  EXPECT_THAT(message_of([&] { (void)read(damaged); }),
              AllOf(HasSubstr("damaged at compressed byte"), HasSubstr("fetch the file again")));
}

class Mnist : public ::testing::TestWithParam<IdxSpelling> {};

TEST_P(Mnist, LoadsInEverySpelling) {
  const TemporaryFolder folder;
  write_mnist(folder.path(), 40, 20, 28, 28, GetParam());
  const ImageDataset data = load_mnist(folder.path());
  EXPECT_EQ(data.train.size(), 40U);
  EXPECT_EQ(data.test.size(), 20U);
  EXPECT_EQ(data.train.pixels.size(), 40U * 784U);
  EXPECT_FALSE(data.crop_and_flip);
  const ImageShape shape = mnist_shape(folder.path());
  EXPECT_EQ(shape.height, 28);
  EXPECT_EQ(shape.width, 28);
  EXPECT_EQ(shape.channels, 1);
  EXPECT_EQ(shape.classes, 10);
}

INSTANTIATE_TEST_SUITE_P(Spellings, Mnist,
                         ::testing::Values(IdxSpelling::kPlain, IdxSpelling::kDotted,
                                           IdxSpelling::kGzip),
                         [](const auto& spelling) -> std::string {
                           switch (spelling.param) {
                             case IdxSpelling::kPlain:
                               return "Plain";
                             case IdxSpelling::kDotted:
                               return "Dotted";
                             default:
                               return "Gzip";
                           }
                         });

TEST(MnistFolder, WhatIsMissingIsNamedWithTheRemedy) {
  EXPECT_THAT(message_of([] { (void)load_mnist("/nowhere/at/all"); }),
              HasSubstr("/nowhere/at/all"));
  const TemporaryFolder folder;
  write_mnist(folder.path(), 10, 10, 4, 4);
  std::filesystem::remove(folder.path() / "t10k-labels-idx1-ubyte");
  EXPECT_THAT(message_of([&] { (void)load_mnist(folder.path()); }),
              AllOf(HasSubstr("t10k-labels-idx1-ubyte"), HasSubstr("get the four files")));
  EXPECT_THAT(message_of([&] { (void)mnist_shape(folder.path()); }), HasSubstr("t10k-labels"));
}

TEST(MnistFolder, ClassesAreThoseOfTheLabels) {
  const TemporaryFolder folder;
  write_mnist(folder.path(), 60, 50, 4, 4);
  Bytes labels = idx_labels_bytes(60);
  for (std::size_t i = 0; i < 60; ++i) labels[8 + i] = static_cast<std::uint8_t>(i % 47);
  write_bytes(folder.path() / "train-labels-idx1-ubyte", labels);
  const ImageDataset data = load_mnist(folder.path());
  EXPECT_EQ(data.train.shape.classes, 47);
  EXPECT_EQ(data.test.shape.classes, 47);
  EXPECT_EQ(mnist_shape(folder.path()).classes, 47);
}

TEST(MnistFolder, EmnistsNamesAreKnownAndSeveralSetsAreRefused) {
  const TemporaryFolder folder;
  const auto rename = [&](const std::string& from, const std::string& to) {
    std::filesystem::rename(folder.path() / from, folder.path() / to);
  };
  write_mnist(folder.path(), 20, 10, 4, 4);
  for (const std::string kind : {"images-idx3-ubyte", "labels-idx1-ubyte"}) {
    rename("train-" + kind, "emnist-digits-train-" + kind);
    rename("t10k-" + kind, "emnist-digits-test-" + kind);
  }
  EXPECT_EQ(load_mnist(folder.path()).train.size(), 20U);
  write_mnist(folder.path(), 20, 10, 4, 4);
  EXPECT_THAT(message_of([&] { (void)load_mnist(folder.path()); }), HasSubstr("several data sets"));
}

TEST(MnistFolder, FilesThatDoNotBelongTogetherAreRefused) {
  const TemporaryFolder folder;
  write_mnist(folder.path(), 10, 10, 4, 4);
  write_bytes(folder.path() / "train-labels-idx1-ubyte", idx_labels_bytes(9));
  EXPECT_THAT(message_of([&] { (void)load_mnist(folder.path()); }),
              AllOf(HasSubstr("10 images"), HasSubstr("9 labels")));
  write_mnist(folder.path(), 10, 10, 4, 4);
  write_bytes(folder.path() / "t10k-images-idx3-ubyte", idx_images_bytes(10, 5, 4, 1));
  EXPECT_THAT(message_of([&] { (void)load_mnist(folder.path()); }),
              AllOf(HasSubstr("5x4"), HasSubstr("4x4")));
}

}  // namespace
}  // namespace fast
