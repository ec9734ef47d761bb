#include "fast/programs/cli/toml.h"

#include <gmock/gmock.h>

#include "fast/errors.h"

namespace fast {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::vector<std::string> value_of(const std::string& text) {
  const std::vector<TomlEntry> entries = parse_flat_toml(text, "a.toml");
  return entries.size() == 1 ? entries[0].values : std::vector<std::string>{"not one entry"};
}

std::string error_of(const std::string& text) {
  try {
    (void)parse_flat_toml(text, "a.toml");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

TEST(TomlTest, ScalarsAreReadAsTheyAreMeant) {
  EXPECT_THAT(value_of("a = 1"), ElementsAre("1"));
  EXPECT_THAT(value_of("  a=-1.5e-3  # comment"), ElementsAre("-0.0015"));
  EXPECT_THAT(value_of("a = 1_000"), ElementsAre("1000"));
  EXPECT_THAT(value_of("a = 'C:\\new # no comment'"), ElementsAre("C:\\new # no comment"));
  EXPECT_THAT(value_of(R"(a = "q\" \\ \t \u00e9 \U0001F600")"),
              ElementsAre("q\" \\ \t \xC3\xA9 \xF0\x9F\x98\x80"));
  EXPECT_THAT(value_of("\"a b\" = ''"), ElementsAre(""));
}

TEST(TomlTest, AByteOrderMarkAndLinesThatEndInCrLfPass) {
  EXPECT_THAT(value_of("\xEF\xBB\xBF# note\r\na = true\r\n"), ElementsAre("true"));
}

TEST(TomlTest, ArraysMaySpanLines) {
  EXPECT_THAT(value_of("a = [ 1, 'x,y' ,\n # why\n \"z\",\n]\n"), ElementsAre("1", "x,y", "z"));
  EXPECT_THAT(value_of("a = []"), IsEmpty());
}

TEST(TomlTest, EntriesComeInTheOrderOfTheirLines) {
  const auto entries = parse_flat_toml("# one\n\nz = 1\nb = [\n1\n]\na = 2\n", "a.toml");
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[0].key, "z");
  EXPECT_EQ(entries[0].line, 3);
  EXPECT_EQ(entries[2].key, "a");
  EXPECT_EQ(entries[2].line, 7);
}

TEST(TomlTest, EachErrorNamesFileLineAndRemedy) {
  EXPECT_THAT(error_of("\n[section]\n"), AllOf(StartsWith("a.toml:2: a section"), HasSubstr("; ")));
  EXPECT_THAT(error_of("a = 1\na = 2"), AllOf(StartsWith("a.toml:2: "), HasSubstr("'a'")));
  for (const char* const wrong :
       {"a", "a =", "a = b", "a = 'b", "a = [1", "a = [1 2]", "a = 1 2", R"(a = "\q")",
        R"(a = "\ud800")", R"(a = "\u12)", "= 1", "a = \"\xFF\""}) {
    EXPECT_THAT(error_of(wrong), AllOf(StartsWith("a.toml:1: "), HasSubstr("; write"))) << wrong;
  }
  EXPECT_THAT(error_of("a = 1979-05-27"), AllOf(StartsWith("a.toml:1: 'a'"), HasSubstr("text")));
  EXPECT_THAT(error_of("\na = [[1]]"), StartsWith("a.toml:2: 'a'"));
}

TEST(TomlTest, StringsComeBackAsTheyWere) {
  std::string all = "caf\xC3\xA9 ";
  for (int c = 1; c < 128; ++c) all += static_cast<char>(c);
  EXPECT_THAT(value_of("a = " + toml_string(all)), ElementsAre(all));
  EXPECT_THROW((void)toml_string("\xFF"), ConfigError);
}

}  // namespace
}  // namespace fast
