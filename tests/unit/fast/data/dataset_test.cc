#include "fast/data/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fast/errors.h"
#include "tests/support/cifar_files.h"
#include "tests/support/npy_files.h"
#include "tests/support/picture_files.h"

namespace fast {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::TemporaryFolder;

TEST(DatasetSpec, SyntheticTakesItsCounts) {
  const Dataset data = load_dataset("synthetic:30,20", 1);
  EXPECT_EQ(data.name, "synthetic:30,20");
  EXPECT_EQ(data.train->size(), 30U);
  EXPECT_EQ(data.test->size(), 20U);
  EXPECT_EQ(load_images("synthetic:40", 1).test.size(), 2048U);
}

TEST(DatasetSpec, SyntheticHasItsDefaultSizes) {
  const ImageDataset data = load_images("synthetic", 1);
  EXPECT_EQ(data.train.size(), 8192U);
  EXPECT_EQ(data.test.size(), 2048U);
}

/// Images that are held in memory.
bool is_of_images(std::string_view name) {
  return name != "npy" && name != "text" && name != "images" && name != "csv";
}

/// A small data set of each kind. To add a kind: a line here.
std::map<std::string_view, std::string> a_small_one_of_each(const TemporaryFolder& folder) {
  const std::string path = folder.path().string();
  testing::write_cifar10(folder.path(), 1, 10, 10);
  for (const char* const file : {"train.bin", "test.bin"}) {
    testing::write_bytes(folder.path() / file, testing::Bytes(10 * 3074, 7));
  }
  testing::write_mnist(folder.path(), 10, 10, 6, 9);
  testing::write_npy(folder.path(), 10, 10, 6);
  testing::write_bytes(folder.path() / "some.txt", testing::Bytes(11 * 16 + 1, 'x'));
  std::string table = "a,b\n";
  for (int i = 0; i < 40; ++i) table += std::to_string(i) + "," + std::to_string(i % 2) + "\n";
  testing::write_bytes(folder.path() / "table.csv", testing::Bytes(table.begin(), table.end()));
  testing::write_pictures(folder.path() / "pictures", 10);
  return {{"synthetic", "synthetic:10,10"},
          {"cifar10", "cifar10:" + path},
          {"cifar100", "cifar100:" + path},
          {"mnist", "mnist:" + path},
          {"npy", "npy:" + path},
          {"text", "text:" + path + "/some.txt,16"},
          {"csv", "csv:" + path + "/table.csv,test=0.4"},
          {"images", "images:" + path + "/pictures,8"}};
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
        shape_only ? (void)dataset_spec(spec) : (void)load_dataset(spec, 1);
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
    EXPECT_EQ(dataset_spec(spec), load_dataset(spec, 1).spec);
    EXPECT_GT(dataset_spec(spec).input.values(), 0U);
    if (!is_of_images(name)) continue;
    const ImageShape shape = image_shape(dataset_spec(spec), "any");
    const ImageDataset data = load_images(spec, 1);
    EXPECT_EQ(shape.pixels(), data.train.shape.pixels());
    EXPECT_EQ(shape.height, data.test.shape.height);
    EXPECT_EQ(shape.classes, data.train.shape.classes);
    EXPECT_EQ(data.train.pixels.size(), data.train.size() * shape.pixels());
    for (int c = 0; c < shape.channels; ++c) {
      EXPECT_GT(data.deviation[static_cast<std::size_t>(c)], 0);
    }
  }
}

/// An example as learners get it: its inputs, then its targets.
std::vector<double> example_of(const Dataset& data, const ExampleSet& set, std::size_t i) {
  std::vector<float> numbers(data.spec.input.values());
  std::vector<std::int64_t> integers(numbers.size()), targets(data.spec.target.values());
  const bool floats = data.spec.input.type == ValueType::kFloat32;
  set.write(i, 1, nullptr, floats ? ValuesOut(std::span(numbers)) : std::span(integers),
            std::span(targets));
  std::vector<double> all(targets.begin(), targets.end());
  if (floats) {
    all.insert(all.end(), numbers.begin(), numbers.end());
  } else {
    all.insert(all.end(), integers.begin(), integers.end());
  }
  return all;
}

/// Images of a set one after the other, as a loader reads them.
std::vector<std::uint8_t> image_of(const ImageSet& set, std::size_t i) {
  std::vector<std::uint8_t> out(set.shape.pixels());
  if (set.read) {
    set.read(i, out);
  } else {
    std::ranges::copy(set.image(i), out.begin());
  }
  return out;
}

TEST(DatasetChoice, KeepsTheImagesOfAShardAloneAndTheLabelsOfAll) {
  const TemporaryFolder folder;
  const auto small = a_small_one_of_each(folder);
  for (const std::string_view name : dataset_names()) {
    SCOPED_TRACE(name);
    const ChooseExamples choose = [&](std::span<const std::uint32_t> labels) {
      EXPECT_EQ(labels.size(), 10U);
      return std::vector<std::uint32_t>{7, 0, 3};
    };
    const Dataset all = load_dataset(small.at(name), 1),
                  some = load_dataset(small.at(name), 1, choose);
    EXPECT_EQ(some.train->labels(), all.train->labels());
    EXPECT_EQ(some.test->labels(), all.test->labels());
    for (const std::size_t i : {0U, 3U, 7U}) {
      EXPECT_EQ(example_of(some, *some.train, i), example_of(all, *all.train, i));
    }
    for (std::size_t i = 0; i < all.test->size(); ++i) {
      EXPECT_EQ(example_of(some, *some.test, i), example_of(all, *all.test, i));
    }
    if (!is_of_images(name)) continue;  // its examples are in no memory
    const ImageSet kept = load_images(small.at(name), 1, choose).train;
    EXPECT_EQ(kept.pixels.size(), 3 * kept.shape.pixels());
    EXPECT_THROW((void)kept.image(1), stencil::InvariantError);
  }
}

TEST(DatasetChoice, OfAllIsAll) {
  const TemporaryFolder folder;
  for (const auto& [name, spec] : a_small_one_of_each(folder)) {
    if (!is_of_images(name)) continue;
    const ImageDataset data = load_images(spec, 1, [](std::span<const std::uint32_t> labels) {
      std::vector<std::uint32_t> all(labels.size());
      std::iota(all.begin(), all.end(), 0U);
      return all;
    });
    EXPECT_TRUE(data.train.kept.empty()) << name;
    EXPECT_EQ(image_of(data.train, 9), image_of(load_images(spec, 1).train, 9)) << name;
  }
}

/// The records are chosen over the borders of files and of the pieces in which they are read.
TEST(DatasetChoice, GoesOverAllFiles) {
  const TemporaryFolder folder;
  testing::write_cifar10(folder.path(), 3, 100, 10);
  const std::string spec = "cifar10:" + folder.path().string();
  const std::vector<std::uint32_t> chosen = {299, 0, 99, 100, 164, 200, 63, 64};
  const ImageDataset all = load_images(spec, 1),
                     some = load_images(spec, 1, [&](auto) { return chosen; });
  EXPECT_EQ(some.train.labels, all.train.labels);
  for (const std::uint32_t i : chosen) EXPECT_EQ(image_of(some.train, i), image_of(all.train, i));
}

TEST(DatasetChoice, AWrongLabelIsFoundInRecordsThatAreNotChosen) {
  const TemporaryFolder folder;
  testing::write_cifar10(folder.path(), 1, 100, 10);
  testing::Bytes bytes = testing::cifar10_bytes(100, 1);
  bytes[70 * 3073] = 10;
  testing::write_bytes(folder.path() / "data_batch_1.bin", bytes);
  try {
    (void)load_images("cifar10:" + folder.path().string(), 1,
                      [](auto) { return std::vector<std::uint32_t>{1}; });
    ADD_FAILURE() << "no DataError was thrown";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("record 70 (at byte 215110) has label 10"));
  }
}

TEST(DatasetChoice, ATestFileThatBecomesShorterIsADataErrorWhenItIsRead) {
  const TemporaryFolder folder;
  testing::write_cifar10(folder.path(), 1, 10, 10);
  const ImageDataset data = load_images("cifar10:" + folder.path().string(), 1,
                                        [](auto) { return std::vector<std::uint32_t>{1}; });
  std::filesystem::resize_file(folder.path() / "test_batch.bin", 5 * 3073);
  EXPECT_NO_THROW((void)image_of(data.test, 4));
  EXPECT_THROW((void)image_of(data.test, 5), DataError);
}

TEST(DatasetSpec, AMissingFolderIsADataErrorForTheShapeToo) {
  for (const std::string_view name : dataset_names()) {
    const std::string spec = std::string(name) + ":/nowhere";
    if (name == "synthetic") continue;  // reads no folder
    EXPECT_THROW((void)dataset_spec(spec), DataError) << spec;
    EXPECT_THROW((void)load_dataset(spec, 1), DataError) << spec;
  }
}

}  // namespace
}  // namespace fast
