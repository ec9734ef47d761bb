#include "fast/data/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "fast/data/loader.h"
#include "fast/errors.h"
#include "tests/support/cifar_files.h"

namespace fast {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TemporaryFolder;

struct File {
  explicit File(std::string_view text, const std::string& name = "a, b.txt")
      : path((folder.path() / name).string()) {
    testing::write_bytes(path, testing::Bytes(text.begin(), text.end()));
  }
  TemporaryFolder folder;
  std::string path;
};

std::string refusal(const std::string& arguments) {
  try {
    (void)load_text(arguments);
  } catch (const ConfigError& error) {
    return error.what();
  } catch (const DataError& error) {
    return error.what();
  }
  return "taken";
}

TEST(Text, TargetsAreTheBytesThatFollow) {
  const File file("abcdefghij\xff");
  const Dataset data = load_text(file.path + ",2");
  EXPECT_EQ(data.train->size(), 4U);
  EXPECT_EQ(data.test->size(), 1U);
  EXPECT_EQ(data.spec, text_spec(file.path + ",2"));
  EXPECT_EQ(data.spec.classes, 256);
  Batch batch;
  TestLoader train(data, data.train, 2);
  ASSERT_TRUE(train.next(batch));
  EXPECT_THAT(std::get<std::span<const std::int64_t>>(batch.inputs),
              ElementsAre('a', 'b', 'c', 'd'));
  EXPECT_THAT(batch.labels(), ElementsAre('b', 'c', 'd', 'e'));
  TestLoader test(data, data.test, 2);
  ASSERT_TRUE(test.next(batch));
  EXPECT_THAT(batch.labels(), ElementsAre('j', 255));
}

TEST(Text, TheLengthMayBeLeftOutAndNamesMayHaveCommas) {
  const File file(std::string(1000, 'x'));
  EXPECT_THAT(load_text(file.path).spec.input.shape, ElementsAre(128));
  EXPECT_EQ(load_text(file.path).train->size(), 6U);
}

TEST(Text, ModelsOfImagesDoNotTakeIt) {
  const File file(std::string(1000, 'x'));
  EXPECT_THROW((void)image_shape(text_spec(file.path), "mlp"), ConfigError);
}

TEST(Text, WhatIsNoTextIsRefused) {
  const File file(std::string(200, 'x'));
  EXPECT_THAT(refusal(file.path), HasSubstr("200 bytes, which are 1 windows of 128"));
  EXPECT_THAT(refusal(file.path + ",0"), HasSubstr("'0'"));
  EXPECT_THAT(refusal(file.path + ",9x"), HasSubstr("'9x'"));
  EXPECT_THAT(refusal("/nowhere/it"), HasSubstr("No such file"));
  EXPECT_THAT(refusal(file.folder.path().string()), HasSubstr("not a file"));
  const File empty("");
  EXPECT_THAT(refusal(empty.path), HasSubstr("0 bytes"));
}

TEST(Text, AFileThatBecomesShorterIsADataErrorWhenItIsRead) {
  const File file(std::string(1000, 'x'));
  const Dataset data = load_text(file.path);
  std::filesystem::resize_file(file.path, 100);
  TestLoader loader(data, data.test, 1);
  Batch batch;
  EXPECT_THROW((void)loader.next(batch), DataError);
}

}  // namespace
}  // namespace fast
