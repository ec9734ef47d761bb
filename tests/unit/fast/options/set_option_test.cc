#include "fast/options/set_option.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fast/errors.h"
#include "fast/options/session_option_fields.h"
#include "stencil/core/option_text.h"

namespace fast {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// "" where the option was taken.
std::string error_of(const std::string& key, const std::string& text) {
  SessionOptions options;
  try {
    set_option(options, key, text);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(SetOptionTest, EveryOptionOfTheListTakesItsExampleAsText) {
  SessionOptions examples;
  std::vector<std::pair<std::string, std::string>> texts;
  const auto collect = [&texts]<typename T>(const stencil::OptionField<T>& field, T& value) {
    EXPECT_NE(field.example, value) << field.key << ": an example is not the default";
    value = field.example;
    texts.emplace_back(field.key, stencil::option_text(field.example));
  };
  visit_fields(examples, collect);
  SessionOptions read;
  for (const auto& [key, text] : texts) set_option(read, key, text);
  const auto agree = [&texts, index = 0U]<typename T>(const stencil::OptionField<T>& field,
                                                      const T& value) mutable {
    EXPECT_EQ(value, field.example) << field.key << " " << texts[index++].second;
  };
  auto check = agree;
  visit_fields(read, check);
  EXPECT_EQ(read.exchange, examples.exchange);
}

TEST(SetOptionTest, NamesMayBeThoseOfTheCommandLine) {
  SessionOptions options;
  set_option(options, "phase-lock", "0.5");
  EXPECT_EQ(options.exchange.phase_lock, 0.5);
}

TEST(SetOptionTest, PeersAreAddedOneByOneOrSeveralAtOnce) {
  SessionOptions options;
  set_option(options, "peer", "1=tcp://a:1");
  set_option(options, "peer", "2=tcp://b:2,3=tcp://c:3");
  EXPECT_EQ(options.peers,
            (std::map<int, std::string>{{1, "tcp://a:1"}, {2, "tcp://b:2"}, {3, "tcp://c:3"}}));
}

TEST(SetOptionTest, ARefusalNamesOptionValueAndRemedy) {
  EXPECT_THAT(error_of("phase_lok", "1"),
              AllOf(HasSubstr("'phase_lok'"), HasSubstr("did you mean phase_lock"),
                    HasSubstr("; use one of topology, rank")));
  EXPECT_THAT(error_of("rank", "first"),
              AllOf(HasSubstr("rank 'first' is no whole number"), HasSubstr("; use a rank")));
  EXPECT_THAT(error_of("rank", "-1"), HasSubstr("rank -1 is out of range; "));
  EXPECT_THAT(error_of("linger", "1.5"), HasSubstr("linger 1.5 is out of range; use a share"));
  EXPECT_THAT(error_of("overlap", "perhaps"), HasSubstr("neither true nor false; write e.g. "));
  EXPECT_THAT(error_of("budget", "-3"), HasSubstr("budget '-3' is no whole number"));
  EXPECT_THAT(error_of("codec", "fp8"), HasSubstr("'fp8'"));
  EXPECT_THAT(error_of("peer", "tcp://a:1"), HasSubstr("peer tcp://a:1: not RANK=ENDPOINT; write"));
  EXPECT_THAT(error_of("peer", "1=a,1=b"), HasSubstr("peer names rank 1 twice"));
}

TEST(SetOptionTest, WhatIsRefusedChangesNothing) {
  SessionOptions options;
  options.peers = {{0, "tcp://a:1"}};
  EXPECT_THROW(set_option(options, "peer", "1=tcp://b:2,x"), ConfigError);
  EXPECT_EQ(options.peers.size(), 1U);
}

}  // namespace
}  // namespace fast
