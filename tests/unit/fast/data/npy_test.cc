#include "fast/data/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "fast/data/loader.h"
#include "fast/data/npy_header.h"
#include "fast/errors.h"
#include "tests/support/npy_files.h"

namespace fast {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::npy_bytes;
using testing::npy_file;
using testing::TemporaryFolder;

using Bytes = testing::Bytes;

/// A folder with the four files of four examples, of which a test replaces some.
struct Folder {
  Folder() { testing::write_npy(path(), 4, 2, 3); }
  [[nodiscard]] const std::filesystem::path& path() const { return folder.path(); }
  void put(const std::string& name, const Bytes& bytes) const {
    testing::write_bytes(path() / (name + ".npy"), bytes);
  }
  void both(const std::string& name, const std::function<Bytes(const std::string& n)>& make) const {
    put("train-" + name, make("4"));
    put("test-" + name, make("2"));
  }
  TemporaryFolder folder;
};

template <typename T>
std::function<Bytes(const std::string&)> counting(std::size_t each, const std::string& sides = "") {
  return [=](const std::string& n) {
    std::vector<T> elements(std::stoul(n) * each);
    for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<T>(i);
    return npy_bytes(n + sides, elements);
  };
}

std::vector<float> first_inputs(const Dataset& data) {
  TestLoader loader(data, data.train, 2);
  Batch batch;
  EXPECT_TRUE(loader.next(batch));
  return {batch.images().begin(), batch.images().end()};
}

TEST(Npy, ExamplesAreThoseOfTheFiles) {
  const Folder folder;
  const Dataset data = load_npy(folder.path());
  EXPECT_EQ(data.train->size(), 4U);
  EXPECT_EQ(data.test->size(), 2U);
  EXPECT_EQ(data.spec.classes, 2);
  EXPECT_THAT(data.spec.input.shape, ElementsAre(3));
  EXPECT_THAT(data.train->labels(), ElementsAre(0, 1, 0, 1));
  TestLoader loader(data, data.train, 3);
  Batch batch;
  ASSERT_TRUE(loader.next(batch));
  EXPECT_EQ(batch.size, 3U);
  EXPECT_THAT(batch.labels(), ElementsAre(0, 1, 0));
  EXPECT_FLOAT_EQ(batch.images()[0], -1.5F);
  EXPECT_FLOAT_EQ(batch.images()[3], 1.0F + 7.0F / 11 - 0.5F);
  ASSERT_TRUE(loader.next(batch));
  EXPECT_EQ(batch.size, 1U);
}

TEST(Npy, NumbersOfAnyWidthAreFloats) {
  const Folder folder;
  folder.both("x", counting<double>(3, ", 3"));
  EXPECT_THAT(first_inputs(load_npy(folder.path())), ElementsAre(0, 1, 2, 3, 4, 5));
  // 1.5 and -2 as halves.
  folder.both("x", [](const std::string& n) {
    Bytes halves;
    for (std::size_t i = 0; i < std::stoul(n); ++i) halves.insert(halves.end(), {0, 0x3e, 0, 0xc0});
    return npy_file("{'descr': '<f2', 'fortran_order': False, 'shape': (" + n + ", 2), }", halves);
  });
  EXPECT_THAT(first_inputs(load_npy(folder.path())), ElementsAre(1.5, -2, 1.5, -2));
}

TEST(Npy, BytesAreImagesFrom0To1AndModelsOfImagesTakeThem) {
  const Folder folder;
  folder.both("x", [](const std::string& n) {
    return npy_bytes(n + ", 1, 2, 2", std::vector<std::uint8_t>(std::stoul(n) * 4, 51));
  });
  const Dataset data = load_npy(folder.path());
  for (const float value : first_inputs(data)) EXPECT_FLOAT_EQ(value, 0.2F);
  const ImageShape shape = image_shape(data.spec, "resnet8");
  EXPECT_EQ(shape.channels, 1);
  EXPECT_EQ(shape.height, 2);
  EXPECT_EQ(shape.classes, 2);
}

TEST(Npy, IntegersAreTokensAndTheirTargetsMayBeAsMany) {
  const Folder folder;
  folder.both("x", counting<std::int32_t>(5, ", 5"));
  folder.both("y", counting<std::uint16_t>(5, ", 5"));
  const Dataset data = load_npy(folder.path());
  EXPECT_EQ(data.spec.classes, 0);
  EXPECT_EQ(in_words(data.spec.target), "int64 [5]");
  TestLoader loader(data, data.test, 2);
  Batch batch;
  ASSERT_TRUE(loader.next(batch));
  EXPECT_EQ(std::get<std::span<const std::int64_t>>(batch.inputs)[7], 7);
  EXPECT_EQ(batch.labels()[9], 9);
  EXPECT_THAT(data.train->labels(), ElementsAre(0, 0, 0, 0));
  EXPECT_THROW((void)image_shape(data.spec, "mlp"), ConfigError);
}

TEST(Npy, NumbersAsTargetsAreNoLabels) {
  const Folder folder;
  folder.both("y", counting<float>(1));
  const Dataset data = load_npy(folder.path());
  EXPECT_EQ(data.spec.classes, 0);
  EXPECT_EQ(data.spec.target.type, ValueType::kFloat32);
  EXPECT_TRUE(data.spec.target.shape.empty());
}

TEST(Npy, OfAFileOfTenGigabytesOnlyWhatABatchNeedsIsInMemory) {
  const Folder folder;
  constexpr std::size_t kExamples = 2'500'000, kFeatures = 1000;
  const Bytes header =
      npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (2500000, 1000), }", {});
  folder.both("x", [&](const std::string& n) {
    return n == "4" ? header : npy_bytes("2, 1000", std::vector<float>(2000));
  });
  std::filesystem::resize_file(folder.path() / "train-x.npy",
                               header.size() + kExamples * kFeatures * sizeof(float));
  folder.put("train-y", npy_bytes("2500000", std::vector<std::int64_t>(kExamples)));
  const Dataset data = load_npy(folder.path());
  TrainLoader loader(data, {0, 2'499'999}, 2, 1);
  EXPECT_EQ(loader.next().size, 2U);
  EXPECT_LT(data.train->bytes(), 12'000'000U) << "labels, and an example's bytes";
}

struct Refused {
  std::string file;  ///< without .npy
  Bytes bytes;
  std::string says;
};

TEST(Npy, WhatDoesNotFitIsRefusedByFileCauseAndRemedy) {
  const std::vector<float> x(12);
  Bytes short_one = npy_bytes("4, 3", x), magic = short_one, version = short_one;
  short_one.pop_back();
  magic[1] = 'n';
  version[6] = 9;
  const auto header = [&](const std::string& text, std::size_t bytes = 48) {
    return npy_file(text, Bytes(bytes));
  };
  for (const Refused& one : std::vector<Refused>{
           {"train-x", short_one, "truncated"},
           {"train-x", magic, "no .npy file"},
           {"train-x", version, "version 9"},
           {"train-x", Bytes{0x93, 'N'}, "no .npy file"},
           {"train-x", header("{'descr': '>f4', 'fortran_order': False, 'shape': (4, 3), }"),
            "big-endian"},
           {"train-x", header("{'descr': '<f4', 'fortran_order': True, 'shape': (4, 3), }"),
            "ascontiguousarray"},
           {"train-x", header("{'descr': '<c8', 'fortran_order': False, 'shape': (4, 3), }"),
            "<c8"},
           {"train-x", header("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (4,), }"),
            "several fields"},
           {"train-x", header("{'descr': '<f4', 'fortran_order': False, 'shape': (4, -3), }"),
            "no number"},
           {"train-x", header("{'descr': '<f4', 'fortran_order': False, 'shape': (4, 3"),
            "missing"},
           {"train-x", header("{'descr': '<f4', 'shape': (4, 3), }"), "lacks"},
           {"train-x",
            header("{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 3), }"),
            "more bytes than there can be"},
           {"train-x", header("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3), }", 0),
            "no examples"},
           {"train-x", npy_bytes("3, 3", std::vector<float>(9)), "targets for 4"},
           {"train-x", npy_bytes("4, 2", std::vector<float>(8)), "float32 [2]"},
           {"train-x", npy_bytes("4, 3", std::vector<double>(12)), "float64 [3]"},
           {"train-y", npy_bytes("4", std::vector<std::int64_t>{0, 1, -1, 0}),
            "label -1 of example 2"},
           {"test-y", npy_bytes("2", std::vector<std::int64_t>{0, 1LL << 40}), "1099511627776"}}) {
    SCOPED_TRACE(one.says);
    const Folder folder;
    folder.put(one.file, one.bytes);
    try {
      (void)load_npy(folder.path());
      ADD_FAILURE() << "it was taken";
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(),
                  AllOf(HasSubstr(one.file + ".npy"), HasSubstr(one.says), HasSubstr("; ")));
    }
  }
  for (const char* const gone : {"train-x", "train-y", "test-x", "test-y"}) {
    const Folder folder;
    std::filesystem::remove(folder.path() / (std::string(gone) + ".npy"));
    try {
      (void)load_npy(folder.path());
      ADD_FAILURE() << "it was taken";
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), HasSubstr(std::string(gone) + ".npy: No such file"));
    }
  }
}

TEST(Npy, AFileThatBecomesShorterIsADataErrorWhenItIsRead) {
  const Folder folder;
  const Dataset data = load_npy(folder.path());
  std::filesystem::resize_file(folder.path() / "train-x.npy", 150);
  EXPECT_THROW(first_inputs(data), DataError);
}

}  // namespace
}  // namespace fast
