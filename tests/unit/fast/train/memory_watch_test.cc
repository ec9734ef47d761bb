#include "fast/train/memory_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace fast {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::size_t kMegabyte = 1'000'000;

SessionStatus budgeted(std::size_t budget) {
  SessionStatus status;
  status.counters = {{"memory_budget", budget}, {"memory_held", 50 * kMegabyte}};
  return status;
}

/// Beside 100 MB of libraries, 20 MB of others' and 30 MB that it had before.
ProcessMemory taking(std::size_t bytes) {
  return {.peak = 150 * kMegabyte + MemoryWatch::kBeside + bytes,
          .now = 140 * kMegabyte,
          .files = 100 * kMegabyte,
          .shared = 20 * kMegabyte};
}

TEST(ProcessMemory, IsReadFromWhatTheSystemTells) {
  const auto read = process_memory(
      "Name:\tfast-worker\nVmHWM:\t    2000 kB\nVmRSS:\t    1500 kB\nRssAnon:\t 800 kB\n"
      "RssFile:\t     600 kB\nRssShmem:\t     100 kB\n");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->peak, 2000U * 1024);
  EXPECT_EQ(read->own(), 800U * 1024);
  EXPECT_FALSE(process_memory("VmHWM:\t 2000 kB\nVmRSS:\t 1500 kB\n")) << "an older system";
  EXPECT_FALSE(process_memory("VmHWM:"));
}

TEST(ProcessMemory, OfThisProcessGrowsWithWhatItTakes) {
  const ProcessMemory before = own_memory();
  const std::vector<char> taken(64 * kMegabyte, 'x');
  const ProcessMemory after = own_memory();
  EXPECT_GE(after.own(), before.own() + 60 * kMegabyte);
  EXPECT_GE(after.peak, after.now);
  EXPECT_EQ(taken.back(), 'x');
}

TEST(MemoryWatch, SaysOnceWhatWasTakenWhereThatIsMoreThanTheBudget) {
  MemoryWatch watch(30 * kMegabyte);
  EXPECT_FALSE(watch.look(budgeted(64 * kMegabyte), taking(64 * kMegabyte)));
  const auto line = watch.look(budgeted(64 * kMegabyte), taking(80 * kMegabyte));
  ASSERT_TRUE(line);
  EXPECT_THAT(*line, AllOf(HasSubstr("--memory-budget 64MB: 80MB were taken"),
                           HasSubstr("the budget is 50MB"), HasSubstr("--batch")));
  EXPECT_FALSE(watch.look(budgeted(64 * kMegabyte), taking(90 * kMegabyte))) << "said already";
}

TEST(MemoryWatch, WithoutABudgetOrWhatWasTakenBeforeNothingIsSaid) {
  EXPECT_FALSE(MemoryWatch(30 * kMegabyte).look(budgeted(0), taking(80 * kMegabyte)));
  EXPECT_FALSE(MemoryWatch(0).look(budgeted(64 * kMegabyte), taking(80 * kMegabyte)));
}

/// They may have been resident at the peak, and are not now.
TEST(MemoryWatch, FilesThatWereThereOnceAreNotTakenForMore) {
  MemoryWatch watch(30 * kMegabyte);
  ProcessMemory memory = taking(64 * kMegabyte);
  EXPECT_FALSE(watch.look(budgeted(64 * kMegabyte), memory));
  memory.files = memory.shared = 0;
  EXPECT_FALSE(watch.look(budgeted(64 * kMegabyte), memory));
}

}  // namespace
}  // namespace fast
