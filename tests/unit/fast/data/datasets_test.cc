#include "fast/data/datasets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "fast/errors.h"

namespace fast {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

Dataset as_many(std::string_view examples, std::uint64_t seed) {
  Dataset data = load_dataset("synthetic:" + std::string(examples), seed);
  data.spec.classes = static_cast<int>(seed);
  return data;
}

Datasets with_own() {
  return Datasets({{"own", "own:FILE (mine)", as_many},
                   {"remote", "remote", {}},
                   {"torn", "torn", [](std::string_view, std::uint64_t) { return Dataset(); }}});
}

TEST(Datasets, OnesOwnAreBesideThoseOfFast) {
  const Datasets all = with_own();
  EXPECT_THAT(all.forms(), AllOf(HasSubstr("own:FILE (mine), remote"), HasSubstr("cifar10:DIR")));
  EXPECT_THAT(all.choices(), ::testing::IsSupersetOf({"own:", "remote", "cifar10:"}));
  const Dataset data = all.load("own:40,20", 7);
  EXPECT_EQ(data.train->size(), 40U);
  EXPECT_EQ(data.spec.classes, 7) << "the seed has come along";
  EXPECT_EQ(data.name, "own:40,20");
  EXPECT_EQ(all.load("synthetic:30,20", 7).train->size(), 30U);
  EXPECT_EQ(all.spec("own:40,20").classes, 1);
  EXPECT_TRUE(all.has("own:x") && all.has("own") && all.has("synthetic"));
  EXPECT_FALSE(all.has("owner:x"));
}

TEST(Datasets, PathsBecomeAbsolute) {
  const Datasets all = with_own();
  EXPECT_THAT(all.absolute("own:a"), AllOf(HasSubstr("own:/"), HasSubstr("/a")));
  EXPECT_EQ(all.absolute("own:/a/b"), "own:/a/b");
  EXPECT_EQ(all.absolute("remote"), "remote");
  EXPECT_EQ(all.absolute("synthetic:30,20"), "synthetic:30,20");
}

TEST(Datasets, WhatIsNoneIsRefusedByNameAndRemedy) {
  const Datasets all = with_own();
  EXPECT_NO_THROW(all.check("remote"));
  EXPECT_FALSE(all.can_load("remote"));
  EXPECT_TRUE(all.can_load("own:1"));
  EXPECT_THAT([&] { (void)all.load("remote", 1); },
              ThrowsMessage<ConfigError>(AllOf(HasSubstr("'remote'"), HasSubstr("; give"))));
  EXPECT_THAT([&] { (void)all.load("torn", 1); },
              ThrowsMessage<DataError>(AllOf(HasSubstr("no training or no test set"))));
  EXPECT_THAT([&] { all.check("nothing"); },
              ThrowsMessage<ConfigError>(
                  AllOf(HasSubstr("'nothing' is unknown"), HasSubstr("own:FILE (mine)"))));
  EXPECT_THAT([] { Datasets().check("nothing"); },
              ThrowsMessage<ConfigError>(Not(HasSubstr("mine"))));
}

}  // namespace
}  // namespace fast
