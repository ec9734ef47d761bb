#include "fast/data/image_folder.h"

#include <gmock/gmock.h>

#include <atomic>
#include <filesystem>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "fast/data/decode_ahead.h"
#include "fast/data/loader.h"
#include "fast/data/picture.h"
#include "fast/errors.h"
#include "tests/support/cifar_files.h"
#include "tests/support/picture_files.h"

namespace fast {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using testing::Bytes;
using ::testing::HasSubstr;
using testing::kPictureFiles;
using testing::PictureFile;
using testing::TemporaryFolder;

class PictureTest : public ::testing::TestWithParam<PictureFile> {};
TEST_P(PictureTest, IsDecodedAsPillowDoes) {
  const PictureFile& file = GetParam();
  const Picture picture = decode_picture(file.bytes(), file.name);
  ASSERT_EQ(picture.width, file.width);
  ASSERT_EQ(picture.height, file.height);
  ASSERT_EQ(picture.rgb.size(), std::size_t{3} * file.width * file.height);
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_NEAR(picture.rgb[c], file.first[c], 1) << c;
    EXPECT_NEAR(picture.rgb[picture.rgb.size() - 3 + c], file.last[c], 1) << c;
  }
}

TEST_P(PictureTest, WhatIsCutOffAnywhereIsNamed) {
  const Bytes whole = GetParam().bytes();
  const bool jpeg = std::string(GetParam().ending) == ".jpg";
  // A JPEG that lacks its last marker alone is still whole, to libjpeg with a warning.
  for (std::size_t size = 0; size + (jpeg ? 3 : 13) < whole.size(); size += 5) {
    try {
      (void)decode_picture(std::span(whole).first(size), "cat.png");
      ADD_FAILURE() << "decoded from " << size << " of " << whole.size() << " bytes";
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr("cat.png: "), HasSubstr("; save it")));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Files, PictureTest, ::testing::ValuesIn(kPictureFiles),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(ResizedTest, EachPixelIsAsPillowMakesIt) {
  Picture picture{6, 5, std::vector<std::uint8_t>(90)};
  for (std::size_t i = 0; i < 90; ++i) picture.rgb[i] = static_cast<std::uint8_t>(7 * i % 256);
  const auto check = [&](int width, int height, std::vector<int> first, int sum) {
    const Picture other = resized(picture, width, height);
    ASSERT_EQ(other.rgb.size(), std::size_t{3} * width * height);
    for (std::size_t i = 0; i < first.size(); ++i) EXPECT_NEAR(other.rgb[i], first[i], 1) << i;
    EXPECT_NEAR(std::accumulate(other.rgb.begin(), other.rgb.end(), 0), sum,
                0.5 * static_cast<double>(other.rgb.size()));
  };
  check(3, 2, {96, 78, 85, 109, 116, 123, 146, 153, 160}, 2166);
  check(2, 5, {26, 33, 40, 79, 86, 93, 152, 159, 166}, 3393);
  check(9, 7, {0, 7, 14, 11, 18, 25, 25, 32, 39}, 21105);
}

/// A folder of pictures.
class ImageFolderTest : public ::testing::Test {
 protected:
  void put(const std::string& path, const PictureFile& picture = kPictureFiles[0]) const {
    const fs::path file = root_ / path;
    fs::create_directories(file.parent_path());
    testing::write_bytes(file, picture.bytes());
  }
  void put_text(const std::string& path) const {
    fs::create_directories((root_ / path).parent_path());
    testing::write_bytes(root_ / path, Bytes{'n', 'o'});
  }
  [[nodiscard]] ImageDataset load(const std::string& how = "") const {
    return load_image_folder(root_.string() + how);
  }
  [[nodiscard]] std::string refusal(const std::string& how = "") const {
    try {
      const ImageDataset data = load(how);
      std::vector<std::uint8_t> pixels(data.train.shape.pixels() * data.train.size());
      data.train.read(0, pixels);
    } catch (const ConfigError& error) {
      return error.what();
    } catch (const DataError& error) {
      return error.what();
    }
    return "taken";
  }

  TemporaryFolder folder_;
  fs::path root_ = folder_.path() / "my, pictures";
};

TEST_F(ImageFolderTest, ClassesAreFoldersAndPicturesAreFiles) {
  put("train/cat/a name, with blanks.png");
  put("train/cat/with\na newline.PNG");
  put("train/dog/x.jpg", kPictureFiles[5]);
  put("test/dog/y.jpeg", kPictureFiles[6]);
  put_text("train/cat/notes.txt");
  put_text("train/cat/.hidden.png");
  const ImageDataset data = load(",4");
  EXPECT_EQ(data.train.labels, (std::vector<std::uint16_t>{0, 0, 1}));
  EXPECT_EQ(data.test.labels, (std::vector<std::uint16_t>{1}));
  EXPECT_EQ(data.train.shape.channels, 3);
  EXPECT_EQ(data.train.shape.classes, 2);
  std::vector<std::uint8_t> pixels(data.train.shape.pixels());
  data.train.read(2, pixels);
  for (std::size_t i = 0; i < 16; ++i) EXPECT_NEAR(pixels[i], 200, 1) << "red " << i;
  for (std::size_t i = 16; i < 32; ++i) EXPECT_NEAR(pixels[i], 31, 1) << "green " << i;
  EXPECT_EQ(image_folder_spec(root_.string() + ",4"), Dataset(data).spec);
}

TEST_F(ImageFolderTest, GreyIsOneChannel) {
  put("train/cat/a.png", kPictureFiles[1]);
  put("test/cat/b.png", kPictureFiles[1]);
  const ImageDataset data = load(",grey");
  std::vector<std::uint8_t> pixels(data.train.shape.pixels());
  data.train.read(0, pixels);
  EXPECT_EQ(pixels.size(), 12U);
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(pixels[i], 20 * i);
}

TEST_F(ImageFolderTest, WithoutTwoPartsSomeAreForTestingAndAlwaysTheSame) {
  for (int i = 0; i < 200; ++i) {
    put("cat/" + std::to_string(i) + ".png");
    put("dog/" + std::to_string(i) + ".png");
  }
  const ImageDataset tenth = load(), fifth = load(",test=0.2");
  EXPECT_EQ(tenth.train.size() + tenth.test.size(), 400U);
  EXPECT_NEAR(static_cast<double>(tenth.test.size()), 40, 20);
  EXPECT_NEAR(static_cast<double>(fifth.test.size()), 80, 30);
  EXPECT_EQ(load().test.labels, tenth.test.labels);
  EXPECT_EQ(tenth.test.shape.classes, 2);
}

TEST_F(ImageFolderTest, WhatCannotBeTrainedFromIsNamed) {
  EXPECT_THAT(refusal(), HasSubstr("No such file"));
  put("train/cat/a.png");
  put("test/cat/b.png");
  EXPECT_EQ(refusal(), "taken");
  put("train/cat/large.jpg", kPictureFiles[5]);
  EXPECT_THAT(refusal(), AllOf(HasSubstr("large.jpg is of 16 x 8 pixels, the first of 4 x 3"),
                               HasSubstr("images:DIR,64")));
  EXPECT_EQ(refusal(",9"), "taken");
  put_text("train/cat/words.png");
  EXPECT_THAT(refusal(",9"), HasSubstr("words.png: neither a PNG nor a JPEG"));
  fs::remove(root_ / "train/cat/words.png");
  put_text("train/dog/words.txt");
  EXPECT_THAT(refusal(",9"), AllOf(HasSubstr("dog has no picture"), HasSubstr("1 other files")));
  fs::remove_all(root_ / "train/dog");
  put("test/dog/a.png");
  EXPECT_THAT(refusal(",9"), HasSubstr("dog is not among those of train/"));
  fs::remove_all(root_ / "test");
  fs::create_directories(root_ / "test");
  EXPECT_THAT(refusal(",9"), HasSubstr("0 for testing"));
  EXPECT_THAT(refusal(",0"), HasSubstr("'0'"));
  EXPECT_THAT(refusal(",9x"), HasSubstr("'9x'"));
  EXPECT_THAT(refusal(",test=2"), HasSubstr("'2'"));
}

TEST_F(ImageFolderTest, LoadersGetTheSameWhetherPicturesAreDecodedAheadOrNot) {
  for (int i = 0; i < 30; ++i) {
    put("train/" + std::to_string(i % 3) + "/" + std::to_string(i) + ".png",
        kPictureFiles[i % std::size(kPictureFiles)]);
  }
  put("test/0/a.png");
  const Dataset ahead(load(",6"));
  ImageDataset slow = load(",6");
  slow.train.expect = {};
  std::vector<std::uint32_t> shard(30);
  std::iota(shard.begin(), shard.end(), 0U);
  const Dataset at_once(slow);
  TrainLoader one(ahead, shard, 7, 5), other(at_once, shard, 7, 5);
  for (int step = 0; step < 12; ++step) {
    const Batch a = one.next(), b = other.next();
    ASSERT_TRUE(std::ranges::equal(a.images(), b.images())) << step;
    ASSERT_TRUE(std::ranges::equal(a.labels(), b.labels())) << step;
  }
}

TEST(DecodeAheadTest, WhatIsExpectedIsDecodedOnceAndWhatFailsIsToldWhenItIsNeeded) {
  std::atomic<int> calls{0};
  DecodeAhead ahead(1, [&](std::size_t example, std::span<std::uint8_t> out) {
    ++calls;
    if (example == 9) throw DataError("nine", "none");
    out[0] = static_cast<std::uint8_t>(example);
  });
  const std::vector<std::uint32_t> next = {3, 1, 2};
  ahead.expect(next);
  std::vector<std::uint8_t> out(3);
  ahead.read(1, out);
  EXPECT_EQ(out, (std::vector<std::uint8_t>{1, 2, 3}));
  EXPECT_EQ(calls, 3);
  const std::vector<std::uint32_t> bad = {9, 4};
  ahead.expect(bad);
  ahead.read(4, std::span(out).first(1));
  EXPECT_EQ(out[0], 4) << "of another thread's share";
  EXPECT_THROW(ahead.read(9, std::span(out).first(1)), DataError);
  EXPECT_THROW(ahead.read(9, std::span(out).first(1)), DataError) << "and is tried again";
  ahead.expect(bad);  // is dropped, whatever it throws
  ahead.expect({});
}

}  // namespace
}  // namespace fast
