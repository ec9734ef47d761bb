// What the machine allows: cores, open files and threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <system_error>
#include <utility>

#include "fast/errors.h"
#include "fast/programs/cores.h"
#include "fast/programs/launch/descriptors.h"
#include "fast/programs/launch/threads.h"
#include "tests/support/cifar_files.h"

namespace fast {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class QuotaTest : public ::testing::Test {
 protected:
  void write(const fs::path& file, const std::string& text) const {
    fs::create_directories((folder_.path() / file).parent_path());
    std::ofstream(folder_.path() / file) << text;
  }
  [[nodiscard]] int quota(const std::string& self) const {
    write("self", self);
    return quota_of_cores(folder_.path() / "cgroup", folder_.path() / "self");
  }
  testing::TemporaryFolder folder_;
};

TEST_F(QuotaTest, TheLeastOfAllGroupsAboveCounts) {
  write("cgroup/a/cpu.max", "150000 100000\n");
  write("cgroup/a/b/cpu.max", "400000 100000\n");
  write("cgroup/cpu.max", "max 100000\n");
  EXPECT_EQ(quota("0::/a/b\n"), 2);
  EXPECT_EQ(quota("0::/\n"), 0);
}

TEST_F(QuotaTest, InAContainerItIsThatOfTheRoot) {
  write("cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(quota("0::/\n"), 2);
  EXPECT_EQ(quota("0::/docker/0123\n"), 2);
}

TEST_F(QuotaTest, VersionOneIsReadToo) {
  write("cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "50000\n");
  write("cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota("9:name=systemd:/\n2:cpu,cpuacct:/job\n0::/\n"), 1);
  write("cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(quota("2:cpu,cpuacct:/job\n"), 0);
}

TEST_F(QuotaTest, WhereNothingIsToldThereIsNone) {
  EXPECT_EQ(quota(""), 0);
  EXPECT_EQ(quota("no such line\n"), 0);
  EXPECT_GE(available_cores(), 1);
}

TEST(DescriptorLimitTest, TooFewOpenFilesAreNamedWithTheNumber) {
  EXPECT_NO_THROW(check_descriptor_limit(4, 1024));
  try {
    check_descriptor_limit(40, 40);
    ADD_FAILURE() << "not refused";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("40 workers"), HasSubstr("ulimit -n 64")));
  }
  EXPECT_NO_THROW(check_worker_descriptors(4, 1024));
  try {
    check_worker_descriptors(4, 40);
    ADD_FAILURE() << "not refused";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("4 neighbours"), HasSubstr("ulimit -n 52")));
  }
}

/// A system that gives so many threads.
StartThread gives(int threads) {
  return [left = threads](std::function<void()> work) mutable {
    if (left-- <= 0) {
      throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
    }
    return start_thread(std::move(work));
  };
}

TEST(ThreadLimitTest, TooFewThreadsAreNamedWithTheNumbersAndTheRemedy) {
  EXPECT_NO_THROW(check_threads("a worker", 3));
  EXPECT_NO_THROW(check_threads("a worker", 3, gives(3)));
  EXPECT_NO_THROW(check_threads("a worker", 0, gives(0)));
  try {
    check_threads("a worker", 6, gives(2));
    ADD_FAILURE() << "not refused";
  } catch (const stencil::ResourceError& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("a worker takes 6 threads more, and no more than 2 can be started"),
                      HasSubstr("ulimit -u")));
  }
}

}  // namespace
}  // namespace fast
