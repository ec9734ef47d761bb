#include "fast/data/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

/// All tokens of a set's inputs, and that each target is the token that follows.
std::vector<std::int64_t> tokens_of(const Dataset& data,
                                    const std::shared_ptr<const ExampleSet>& set,
                                    std::size_t batch) {
  std::vector<std::int64_t> all;
  std::optional<std::int64_t> follows;
  TestLoader loader(data, set, batch);
  for (Batch one; loader.next(one);) {
    const auto in = std::get<std::span<const std::int64_t>>(one.inputs);
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (follows) {
        EXPECT_EQ(in[i], *follows);
      }
      all.push_back(in[i]);
      follows = one.labels()[i];
    }
  }
  return all;
}

TEST(Text, CharactersAreNumberedByTheirCodePoints) {
  const File file(
      "b\xc3\xa4"
      "a\xe2\x82\xac"
      "ab\xf0\x9f\x98\x80"
      "ab");  // b a-umlaut a euro a b smile a b
  const std::string spec = file.path + ",2,characters";
  EXPECT_EQ(text_spec(spec).classes, 5);
  const Dataset data = load_text(spec);
  EXPECT_EQ(data.spec, text_spec(spec));
  EXPECT_THAT(tokens_of(data, data.train, 2), ElementsAre(1, 2, 0, 3, 0, 1));
  EXPECT_THAT(tokens_of(data, data.test, 2), ElementsAre(4, 0));
}

TEST(Text, OfAVocabularyTheLongestTokenIsTaken) {
  const File words("the\n \n cat\nt\nh\ne\n\\n\ns\n", "words.txt");
  const File file("the cat the cats\n the cat\n the\n");
  const Dataset data = load_text(file.path + ",3,vocabulary=" + words.path);
  EXPECT_EQ(data.spec.classes, 8);
  std::vector<std::int64_t> all = tokens_of(data, data.train, 2);
  for (const std::int64_t token : tokens_of(data, data.test, 1)) all.push_back(token);
  // the| cat| |the| cat|s|\n| |the| cat|\n| |the|\n: the last but one is a target alone
  EXPECT_THAT(all, ElementsAre(0, 2, 1, 0, 2, 7, 6, 1, 0, 2, 6, 1));
}

TEST(Text, LongTextsAreReadInPiecesThatCutNoToken) {
  std::string text, expected;
  for (int i = 0; i < 700'000; ++i) text += i % 3 == 0 ? "\xe2\x82\xac" : "a";
  const File file(text);
  const Dataset data = load_text(file.path + ",1000,characters");
  const std::vector<std::int64_t> all = tokens_of(data, data.train, 7);
  ASSERT_EQ(all.size(), 630'000U);
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], i % 3 == 0 ? 1 : 0) << i;
}

TEST(Text, WhatHasNoTokenIsNamedByItsPlace) {
  const File file(
      "abcabc\xff"
      "abcabcabc");
  EXPECT_THAT(refusal(file.path + ",2,characters"), HasSubstr("not UTF-8 at byte 6"));
  const File words("a\nb\n", "words.txt");
  EXPECT_THAT(refusal(file.path + ",2,vocabulary=" + words.path),
              ::testing::AllOf(HasSubstr("byte 2: no token of"), HasSubstr("'cabc")));
  const File ascii("abcabcabc");
  EXPECT_THAT(refusal(ascii.path + ",5,characters"), HasSubstr("9 tokens, which are 1 windows"));
  EXPECT_THAT(refusal(file.path + ",2,vocabulary=/nowhere"), HasSubstr("/nowhere"));
  EXPECT_THAT(refusal(file.path + ",2,vocabulary="), HasSubstr("no name"));
  for (const auto& [lines, why] : {std::pair{"a\nb\na\n", "line 3 repeats line 1, 'a'"},
                                   {"a\n\nb\n", "line 2: an empty token"},
                                   {"a\nx\\q\n", "line 2: 'x\\q' has a backslash"},
                                   {"", "holds no token"}}) {
    const File bad(lines, "bad.txt");
    EXPECT_THAT(refusal(file.path + ",2,vocabulary=" + bad.path), HasSubstr(why));
  }
  for (const char* const wrong : {"\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"}) {
    const File text(std::string("abcdefgh") + wrong);
    EXPECT_THAT(refusal(text.path + ",2,characters"), HasSubstr("not UTF-8 at byte 8"));
  }
}

TEST(Text, ItsPathsBecomeAbsolute) {
  EXPECT_EQ(absolute_text("/a/../b.txt,64"), "/b.txt,64");
  EXPECT_EQ(absolute_text("/b.txt,characters"), "/b.txt,characters");
  EXPECT_EQ(absolute_text("/b.txt,64,vocabulary=/c/./d"), "/b.txt,64,vocabulary=/c/d");
  EXPECT_EQ(absolute_text("/b.txt,vocabulary=d"),
            "/b.txt,vocabulary=" + (std::filesystem::current_path() / "d").string());
}

TEST(Text, ATextOfTokensThatBecomesAnotherIsADataError) {
  const File file(std::string(1000, 'x'));
  const Dataset data = load_text(file.path + ",8,characters");
  testing::write_bytes(file.path, testing::Bytes(1000, 'y'));
  TestLoader loader(data, data.test, 1);
  Batch batch;
  EXPECT_THROW((void)loader.next(batch), DataError);
}

}  // namespace
}  // namespace fast
