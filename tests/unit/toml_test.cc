#include "fast/programs/toml.h"

#include <gmock/gmock.h>

#include "fast/errors.h"

namespace fast {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> value_of(const std::string& text) {
  const std::vector<TomlEntry> entries = parse_toml(text, "a.toml");
  return entries.size() == 1 ? entries[0].values : std::vector<std::string>{"not one entry"};
}

std::string error_of(const std::string& text) {
  try {
    (void)parse_toml(text, "a.toml");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

TEST(TomlTest, ScalarsAreReadAsTheyAreMeant) {
  EXPECT_THAT(value_of("a = 1"), ElementsAre("1"));
  EXPECT_THAT(value_of("  a=-1.5e-3  # comment"), ElementsAre("-1.5e-3"));
  EXPECT_THAT(value_of("a = 1_000"), ElementsAre("1000"));
  EXPECT_THAT(value_of("a = true\r\n"), ElementsAre("true"));
  EXPECT_THAT(value_of("a = 'C:\\new # no comment'"), ElementsAre("C:\\new # no comment"));
  EXPECT_THAT(value_of(R"(a = "q\" \\ \t \u00e9 \U0001F600")"),
              ElementsAre("q\" \\ \t \xC3\xA9 \xF0\x9F\x98\x80"));
  EXPECT_THAT(value_of("\"a b\" = ''"), ElementsAre(""));
}

TEST(TomlTest, ArraysMaySpanLines) {
  EXPECT_THAT(value_of("a = [ 1, 'x,y' ,\n # why\n \"z\",\n]\n"), ElementsAre("1", "x,y", "z"));
  EXPECT_THAT(value_of("a = []"), IsEmpty());
}

TEST(TomlTest, LinesAreCounted) {
  const auto entries = parse_toml("# one\n\na = 1\nb = [\n1\n]\nc = 2\n", "a.toml");
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[0].line, 3);
  EXPECT_EQ(entries[2].line, 7);
}

TEST(TomlTest, EachErrorNamesFileLineAndRemedy) {
  EXPECT_THAT(error_of("\n[section]\n"), HasSubstr("a.toml, line 2: a [section]"));
  EXPECT_THAT(error_of("a = 1\na = 2"), HasSubstr("'a' for the second time"));
  EXPECT_THAT(error_of("a"), HasSubstr("without a value"));
  EXPECT_THAT(error_of("a ="), HasSubstr("a = nothing"));
  EXPECT_THAT(error_of("a = b"), HasSubstr("text in quotes"));
  EXPECT_THAT(error_of("a = 'b"), HasSubstr("does not end"));
  EXPECT_THAT(error_of("a = [1"), HasSubstr("does not end"));
  EXPECT_THAT(error_of("a = [1 2]"), HasSubstr("commas"));
  EXPECT_THAT(error_of("a = 1 2"), HasSubstr("after the value"));
  EXPECT_THAT(error_of(R"(a = "\q")"), HasSubstr("unknown escape"));
  EXPECT_THAT(error_of(R"(a = "\ud800")"), HasSubstr("no character"));
  EXPECT_THAT(error_of(R"(a = "\u12)"), HasSubstr("broken"));
  EXPECT_THAT(error_of("= 1"), HasSubstr("begins with '='"));
}

TEST(TomlTest, StringsComeBackAsTheyWere) {
  std::string all;
  for (int c = 1; c < 256; ++c) all += static_cast<char>(c);
  EXPECT_THAT(value_of("a = " + toml_string(all)), ElementsAre(all));
}

}  // namespace
}  // namespace fast
