#include "fast/data/csv.h"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "fast/data/csv_records.h"
#include "fast/data/loader.h"
#include "fast/errors.h"
#include "tests/support/cifar_files.h"

namespace fast {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using testing::TemporaryFolder;

struct TableFile {
  explicit TableFile(std::string_view text) : path((folder.path() / "a, table.csv").string()) {
    testing::write_bytes(path, testing::Bytes(text.begin(), text.end()));
  }
  TemporaryFolder folder;
  std::string path;
};

std::string refusal(std::string_view text, const std::string& how = "") {
  const TableFile file(text);
  try {
    (void)load_csv(file.path + how);
  } catch (const ConfigError& error) {
    return error.what();
  } catch (const DataError& error) {
    return error.what();
  }
  return "taken";
}

std::vector<std::string> fields_of(std::string_view text) {
  CsvRecord record;
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  EXPECT_TRUE(read_csv_record(bytes, true, record)) << text;
  EXPECT_EQ(record.bytes, text.size()) << text;
  return record.fields;
}

TEST(CsvRecords, FieldsAreAsRfc4180Says) {
  EXPECT_THAT(fields_of("a,b c,\n"), ElementsAre("a", "b c", ""));
  EXPECT_THAT(fields_of("a,b\r\n"), ElementsAre("a", "b"));
  EXPECT_THAT(fields_of("\"a, \"\"b\"\"\r\nc\",d"), ElementsAre("a, \"b\"\r\nc", "d"));
  EXPECT_THAT(fields_of("\"\",\"\"\n"), ElementsAre("", ""));
  EXPECT_THAT(fields_of("a\rb\n"), ElementsAre("a\rb"));
  for (const std::string_view wrong : {"a\"b\n", "\"a\"b\n", "\"a\n"}) {
    EXPECT_THROW((void)fields_of(wrong), CsvError) << wrong;
  }
}

TEST(CsvRecords, ARecordThatIsCutOffGoesOn) {
  const std::string_view text = "\"a\"\"\",b\r\n";
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  CsvRecord record;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(read_csv_record(bytes.first(size), false, record)) << size;
  }
  EXPECT_TRUE(read_csv_record(bytes, false, record));
  EXPECT_THAT(record.fields, ElementsAre("a\"", "b"));
}

/// All inputs of a set, and its labels.
struct All {
  std::vector<float> inputs;
  std::vector<std::int64_t> labels;
};
All all_of(const Dataset& data, const std::shared_ptr<const ExampleSet>& set) {
  All all;
  TestLoader loader(data, set, 3);
  for (Batch batch; loader.next(batch);) {
    all.inputs.insert(all.inputs.end(), batch.images().begin(), batch.images().end());
    all.labels.insert(all.labels.end(), batch.labels().begin(), batch.labels().end());
  }
  return all;
}

TEST(Csv, NumbersAreStandardisedAndWordsAreOneOfMany) {
  std::string text = "x,colour,class\n";
  for (int i = 0; i < 300; ++i) {
    text += std::to_string(i % 3) + (i % 2 == 0 ? ",red,10\n" : ",\"blue, dark\",9\n");
  }
  const TableFile file(text);
  const Dataset data = load_csv(file.path);
  EXPECT_THAT(data.spec.input.shape, ElementsAre(3));
  EXPECT_EQ(data.spec.classes, 2);
  EXPECT_EQ(data.spec, csv_spec(file.path));
  EXPECT_EQ(data.train->size() + data.test->size(), 300U);
  EXPECT_NEAR(static_cast<double>(data.test->size()), 30, 20);
  const All train = all_of(data, data.train);
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < train.labels.size(); ++i) {
    const bool red = train.inputs[3 * i + 2] == 1;
    EXPECT_EQ(train.inputs[3 * i + 1], red ? 0 : 1) << "blue is before red";
    EXPECT_EQ(train.labels[i], red ? 1 : 0) << "class 9 is before class 10";
    sum += train.inputs[3 * i];
    squares += train.inputs[3 * i] * train.inputs[3 * i];
  }
  const auto rows = static_cast<double>(train.labels.size());
  EXPECT_NEAR(sum / rows, 0, 1e-5);
  EXPECT_NEAR(squares / rows, 1, 1e-5);
  EXPECT_EQ(data.train->labels().size(), train.labels.size());
}

TEST(Csv, ATargetOfNumbersIsForetoldAndAnyColumnMayBeIt) {
  std::string text = "price,rooms\n";
  for (int i = 0; i < 100; ++i) text += std::to_string(i) + ".5," + std::to_string(i % 4) + "\n";
  const TableFile file(text);
  const Dataset price = load_csv(file.path + ",target=price");
  EXPECT_EQ(price.spec.classes, 0);
  EXPECT_EQ(price.spec.target, (ArraySpec{ValueType::kFloat32, {}}));
  TestLoader loader(price, price.train, 1);
  Batch batch;
  ASSERT_TRUE(loader.next(batch));
  EXPECT_THAT(std::get<std::span<const float>>(batch.targets)[0], FloatNear(0.5F, 2));
  EXPECT_EQ(csv_spec(file.path).classes, 4);
  EXPECT_EQ(csv_spec(file.path + ",numbers").classes, 0);
}

TEST(Csv, EmptyCellsAreTheMeanWhereThatIsWanted) {
  std::string text = "\xef\xbb\xbfx,word,y\r\n";
  for (int i = 0; i < 40; ++i) text += i % 4 == 0 ? ",,0\r\n" : "3,a,1\r\n";
  const TableFile file(text + "\r\n");
  EXPECT_THAT(refusal(text), AllOf(HasSubstr("line 2: the cell of column 'x' is empty"),
                                   HasSubstr("missing=mean")));
  const Dataset data = load_csv(file.path + ",missing=mean");
  const All train = all_of(data, data.train);
  for (std::size_t i = 0; i < train.labels.size(); ++i) {
    EXPECT_EQ(train.inputs[2 * i], 0) << "all that are known are 3";
    EXPECT_EQ(train.inputs[2 * i + 1], train.labels[i]);
  }
}

TEST(Csv, RowsLongerThanAPieceAreRead) {
  std::string text = "words,class\n";
  for (int i = 0; i < 6; ++i) {
    text += "\"" + std::string(1 << 20, static_cast<char>('a' + i % 2)) + "\"," +
            std::to_string(i % 2) + "\n";
  }
  const TableFile file(text);
  const Dataset data = load_csv(file.path + ",test=0.4");
  EXPECT_THAT(data.spec.input.shape, ElementsAre(2));
  EXPECT_EQ(data.train->size() + data.test->size(), 6U);
}

TEST(Csv, WhatIsNoTableIsNamedByLineAndColumn) {
  const std::string good = "a,b\n1,0\n2,1\n3,0\n4,1\n5,0\n6,1\n";
  EXPECT_EQ(refusal(good, ",test=0.4"), "taken");
  EXPECT_THAT(refusal(good + "7\n"), HasSubstr("line 8: 1 cells, and 2 columns"));
  EXPECT_THAT(refusal(good + "7,8,9\n"), HasSubstr("line 8: 3 cells, and 2 columns"));
  EXPECT_THAT(refusal(good + "7,\n"), HasSubstr("line 8: the cell of column 'b' is empty"));
  EXPECT_THAT(refusal(good + "7,\n", ",missing=mean"), HasSubstr("give each row its target"));
  EXPECT_THAT(refusal(good + "\"7,1\n"), HasSubstr("line 8: a quoted field has no end"));
  EXPECT_THAT(refusal(good + "\"7\nx\"y,1\n"), HasSubstr("line 8: something follows a closing"));
  EXPECT_THAT(refusal("a,a\n1,2\n"), HasSubstr("two columns are called 'a'"));
  EXPECT_THAT(refusal("a\n1\n"), HasSubstr("one column alone"));
  EXPECT_THAT(refusal("a,b\n"), HasSubstr("has no row"));
  EXPECT_THAT(refusal(""), HasSubstr("has no row"));
  EXPECT_THAT(refusal("a,b\n1,1\n"), HasSubstr("has 1 rows, too few"));
  EXPECT_THAT(refusal(good, ",target=c"), HasSubstr("no column is called 'c'"));
  EXPECT_THAT(refusal(good, ",test=1"), HasSubstr("'1'"));
  EXPECT_THAT(refusal(good, ",missing=zero"), HasSubstr("'missing=zero'"));
  EXPECT_THAT(refusal("a,b\n1,x\n2,y\n3,x\n4,y\n5,x\n6,y\n", ",numbers,test=0.4"),
              HasSubstr("'b' holds words"));
  std::string words = "a,b\n";
  for (int i = 0; i < 1100; ++i) words += "w" + std::to_string(i) + ",1\n";
  EXPECT_THAT(refusal(words), HasSubstr("column 'a' has more than 1000 words"));
  EXPECT_THAT(refusal(good, ",targt=b"), HasSubstr("No such file"));
}

TEST(Csv, ATableThatBecomesAnotherIsADataError) {
  const TableFile file("a,b\n1,0\n2,1\n3,0\n4,1\n5,0\n6,1\n");
  const Dataset data = load_csv(file.path + ",test=0.4");
  testing::write_bytes(file.path, testing::Bytes(20, ','));
  TestLoader loader(data, data.train, 1);
  Batch batch;
  EXPECT_THROW((void)loader.next(batch), DataError);
}

}  // namespace
}  // namespace fast
