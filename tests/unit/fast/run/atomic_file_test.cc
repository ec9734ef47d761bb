#include "fast/run/atomic_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>

#include "fast/errors.h"
#include "tests/support/report_fixture.h"

namespace fast {
namespace {

using ::testing::HasSubstr;

class Files : public ReportTest {
 protected:
  std::filesystem::path file_ = folder_ / "file";
};

TEST_F(Files, AnAtomicFileAppearsWholeOrNotAtAll) {
  write_atomically(file_, "old");
  {
    AtomicFile abandoned(file_);
    abandoned.write("half", 4);
    EXPECT_EQ(read(file_), "old");
  }
  EXPECT_EQ(read(file_), "old");
  write_atomically(file_, "new");
  EXPECT_EQ(read(file_), "new");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
  EXPECT_THROW(write_atomically(folder_ / "missing" / "file", "x"), FileError);
}

TEST_F(Files, AFolderIsWritableOrNamed) {
  make_writable_folder(folder_ / "a" / "b");
  make_writable_folder(folder_ / "a" / "b");
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "a" / "b"));
  write_atomically(file_, "in the way");
  try {
    make_writable_folder(file_ / "below");
    FAIL();
  } catch (const FileError& error) {
    EXPECT_THAT(error.what(), HasSubstr("below"));
  }
  EXPECT_THROW(make_writable_folder(file_), FileError);
  EXPECT_THROW(make_writable_folder("/proc/fast"), FileError);
}

}  // namespace
}  // namespace fast
