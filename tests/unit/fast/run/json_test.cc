// Reading untrusted JSON.
#include "fast/run/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace fast {

struct Record {
  int rank = 7;
  std::uint64_t bytes = 0;
  double loss = 0.5;
  std::string name = "nobody";
  std::optional<double> accuracy;
  std::vector<int> lost;
};
FAST_JSON(Record, rank, bytes, loss, name, accuracy, lost)

namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// What conform() says of a value; "" where it is right.
std::string complaint(const char* text, const json& sample) {
  json value = json::parse(text);
  try {
    conform(value, sample);
  } catch (const WrongField& error) {
    return error.what();
  }
  return "";
}

TEST(Conform, AWrongTypeIsRefusedByTheNameOfItsField) {
  const json sample = {{"text", ""},
                       {"flag", true},
                       {"number", 0.0},
                       {"list", json::array({0.0})},
                       {"object", {{"inner", 0.0}}}};
  for (const char* const right : {R"({"text":"x"})", R"({"flag":false})", R"({"number":-1.5})",
                                  R"({"number":3})", R"({"list":[]})", R"({"list":[1,2.5]})",
                                  R"({"object":{"inner":1}})", R"({"object":{}})", "{}"}) {
    EXPECT_EQ(complaint(right, sample), "") << right;
  }
  for (const auto& [wrong, field] : {std::pair{R"({"text":3})", "text"},
                                     {R"({"text":null})", "text"},
                                     {R"({"flag":1})", "flag"},
                                     {R"({"flag":"true"})", "flag"},
                                     {R"({"number":"1"})", "number"},
                                     {R"({"number":true})", "number"},
                                     {R"({"number":[1]})", "number"},
                                     {R"({"list":{}})", "list"},
                                     {R"({"list":1})", "list"},
                                     {R"({"list":null})", "list"},
                                     {R"({"list":[1,"2"]})", "list"},
                                     {R"({"object":[]})", "object"},
                                     {R"({"object":null})", "object"},
                                     {R"({"object":{"inner":"1"}})", "inner"}}) {
    EXPECT_THAT(complaint(wrong, sample), HasSubstr("\"" + std::string(field) + "\"")) << wrong;
  }
  EXPECT_NE(complaint("[]", sample), "") << "no object at all";
}

TEST(Conform, WholeNumbersAreNotCutAndFitTheirType) {
  const json sample = {{"int", 0}, {"count", std::uint64_t{0}}};
  for (const char* const right : {R"({"int":2147483647})", R"({"int":-2147483648})", R"({"int":0})",
                                  R"({"count":0})", R"({"count":18446744073709551615})"}) {
    EXPECT_EQ(complaint(right, sample), "") << right;
  }
  for (const char* const wrong :
       {R"({"int":2147483648})", R"({"int":-2147483649})", R"({"int":18446744073709551615})",
        R"({"int":1.5})", R"({"int":1.0})", R"({"int":1e300})", R"({"int":null})", R"({"int":"1"})",
        R"({"count":-1})", R"({"count":1.5})", R"({"count":1e19})",
        R"({"count":18446744073709551616})", R"({"count":null})"}) {
    EXPECT_NE(complaint(wrong, sample), "") << wrong;
  }
}

TEST(Conform, NullIsNaNWhereTheSampleHasAFraction) {
  const json sample = {{"loss", 0.0}, {"losses", json::array({0.0})}};
  json value = json::parse(R"({"loss":null,"losses":[1,null]})");
  conform(value, sample);
  EXPECT_TRUE(std::isnan(value["loss"].get<double>()));
  EXPECT_EQ(value["losses"][0], 1);
  EXPECT_TRUE(std::isnan(value["losses"][1].get<double>()));
}

TEST(Conform, AnOptionalValueIsNullOrAsItsSample) {
  const json sample = {{"accuracy", optional_sample(1.0)},
                       {"codes", json::array({optional_sample(0)})},
                       {"file", optional_sample("")}};
  json value = json::parse(R"({"accuracy":null,"codes":[0,null,137],"file":null})");
  const json before = value;
  conform(value, sample);
  EXPECT_EQ(value, before) << "null stays null, not NaN";
  EXPECT_EQ(complaint(R"({"accuracy":0.5,"codes":[],"file":"x"})", sample), "");
  for (const char* const wrong :
       {R"({"accuracy":"0.5"})", R"({"codes":[1.5]})", R"({"codes":null})", R"({"file":3})"}) {
    EXPECT_NE(complaint(wrong, sample), "") << wrong;
  }
}

TEST(Conform, AStarStandsForEveryKey) {
  const json sample = {{"counters", {{"*", std::uint64_t{0}}}}};
  EXPECT_EQ(complaint(R"({"counters":{}})", sample), "");
  EXPECT_EQ(complaint(R"({"counters":{"a":1,"b":2}})", sample), "");
  EXPECT_THAT(complaint(R"({"counters":{"a":1,"b":-2}})", sample), HasSubstr("\"b\""));
  EXPECT_NE(complaint(R"({"counters":[1]})", sample), "");
}

TEST(Conform, WhatTheSampleDoesNotHaveIsNotLookedAt) {
  const json sample = {{"known", 0}, {"any", json::array()}};
  EXPECT_EQ(complaint(R"({"known":1,"newer":{"what":["ever"]}})", sample), "");
  EXPECT_EQ(complaint(R"({"any":[1,"two",null]})", sample), "") << "no element says how";
}

TEST(ForeignJson, AFieldThatIsMissingKeepsItsDefault) {
  const auto record =
      from_foreign_json<Record>(json::parse(R"({"bytes":9,"lost":[1,3]})"), json::object());
  EXPECT_EQ(record.rank, 7);
  EXPECT_EQ(record.bytes, 9U);
  EXPECT_EQ(record.loss, 0.5);
  EXPECT_EQ(record.name, "nobody");
  EXPECT_EQ(record.accuracy, std::nullopt);
  EXPECT_THAT(record.lost, ElementsAre(1, 3));
}

TEST(ForeignJson, WhatIsWrittenIsReadBack) {
  Record record{.rank = 3, .bytes = 1ULL << 60, .name = "three", .accuracy = 0.25, .lost = {2}};
  record.loss = std::numeric_limits<double>::quiet_NaN();
  json sample = record;
  sample["accuracy"] = optional_sample(1.0);
  const auto back = from_foreign_json<Record>(json::parse(json(record).dump()), sample);
  EXPECT_EQ(back.rank, record.rank);
  EXPECT_EQ(back.bytes, record.bytes);
  EXPECT_TRUE(std::isnan(back.loss));
  EXPECT_EQ(back.name, record.name);
  EXPECT_EQ(back.accuracy, record.accuracy);
  EXPECT_EQ(back.lost, record.lost);
  record.accuracy = std::nullopt;
  EXPECT_TRUE(json(record)["accuracy"].is_null());
}

TEST(ForeignJson, WhatTheSampleLeftUnseenIsAWrongFieldToo) {
  EXPECT_THROW((void)from_foreign_json<Record>(json::parse(R"({"name":3})"), json::object()),
               WrongField);
}

TEST(ForeignJson, ARecordThatDoesNotNameAnOptionIsOfATimeBeforeIt) {
  stencil::ExchangeOptions options;
  options.window = 9;
  options.sweeps = 2.5;
  json written = options;
  EXPECT_EQ(written.get<stencil::ExchangeOptions>(), options);
  options.linger = 0.25;
  written = options;
  written.erase("linger");
  const auto earlier = written.get<stencil::ExchangeOptions>();
  EXPECT_EQ(earlier.linger, 0) << "boundaries waited for nothing then";
  EXPECT_EQ(earlier.sweeps, 2.5);
  EXPECT_NE(stencil::ExchangeOptions().linger, 0);
}

}  // namespace
}  // namespace fast
