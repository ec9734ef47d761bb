#include "fast/data/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fast/errors.h"
#include "tests/support/cifar_files.h"

namespace fast {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::TemporaryFolder;

TEST(DatasetSpec, SyntheticTakesItsCounts) {
  const Dataset data = load_dataset("synthetic:30,20", 1);
  EXPECT_EQ(data.name, "synthetic:30,20");
  EXPECT_EQ(data.train.size(), 30U);
  EXPECT_EQ(data.test.size(), 20U);
  EXPECT_EQ(load_dataset("synthetic:40", 1).test.size(), 2048U);
}

TEST(DatasetSpec, SyntheticHasItsDefaultSizes) {
  const Dataset data = load_dataset("synthetic", 1);
  EXPECT_EQ(data.train.size(), 8192U);
  EXPECT_EQ(data.test.size(), 2048U);
}

/// A small data set of each kind. To add a kind: a line here.
std::map<std::string_view, std::string> a_small_one_of_each(const TemporaryFolder& folder) {
  const std::string path = folder.path().string();
  testing::write_cifar10(folder.path(), 1, 10, 10);
  for (const char* const file : {"train.bin", "test.bin"}) {
    testing::write_bytes(folder.path() / file, testing::Bytes(10 * 3074, 7));
  }
  testing::write_mnist(folder.path(), 10, 10, 6, 9);
  return {{"synthetic", "synthetic:10,10"},
          {"cifar10", "cifar10:" + path},
          {"cifar100", "cifar100:" + path},
          {"mnist", "mnist:" + path}};
}

TEST(DatasetSpec, UnknownSpecsNameTheValueAndTheForms) {
  std::vector<std::string> bad = {"",
                                  "imagenet",
                                  "imagenet:/x",
                                  "cifar10",
                                  "mnist",
                                  "synthetic:0",
                                  "synthetic:-1",
                                  "synthetic:5,",
                                  "synthetic:5,6,7",
                                  "synthetic:1e3",
                                  "synthetic:99999999999999999999",
                                  "synthetic:1000001",
                                  "Synthetic",
                                  " synthetic"};
  for (const std::string_view name : dataset_names()) bad.push_back(std::string(name) + ":");
  for (const std::string& spec : bad) {
    SCOPED_TRACE(spec);
    for (const bool shape_only : {false, true}) {
      try {
        shape_only ? (void)dataset_shape(spec) : (void)load_dataset(spec, 1);
        ADD_FAILURE() << "no ConfigError was thrown";
      } catch (const ConfigError& error) {
        EXPECT_THAT(error.what(), AllOf(HasSubstr("'" + spec + "'"), HasSubstr(dataset_forms())));
      }
    }
  }
}

TEST(DatasetSpec, TheShapeIsThatOfTheData) {
  const TemporaryFolder folder;
  const auto small = a_small_one_of_each(folder);
  for (const std::string_view name : dataset_names()) {
    ASSERT_TRUE(small.contains(name)) << name << " is not tried";
    const std::string& spec = small.at(name);
    SCOPED_TRACE(spec);
    const ImageShape shape = dataset_shape(spec);
    const Dataset data = load_dataset(spec, 1);
    EXPECT_EQ(shape.pixels(), data.train.shape.pixels());
    EXPECT_EQ(shape.height, data.test.shape.height);
    EXPECT_EQ(shape.classes, data.train.shape.classes);
    EXPECT_EQ(data.train.pixels.size(), data.train.size() * shape.pixels());
    for (int c = 0; c < shape.channels; ++c) {
      EXPECT_GT(data.deviation[static_cast<std::size_t>(c)], 0);
    }
  }
}

TEST(DatasetSpec, AMissingFolderIsADataErrorForTheShapeToo) {
  for (const std::string_view name : dataset_names()) {
    const std::string spec = std::string(name) + ":/nowhere";
    if (name == "synthetic") continue;  // reads no folder
    EXPECT_THROW((void)dataset_shape(spec), DataError) << spec;
    EXPECT_THROW((void)load_dataset(spec, 1), DataError) << spec;
  }
}

}  // namespace
}  // namespace fast
