// Lines as systemd's journal takes them.
#include "fast/train/log_style.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>

#include "fast/errors.h"
#include "fast/train/log.h"
#include "tests/support/cifar_files.h"
#include "tests/support/process.h"

namespace fast::testing {
namespace {

using ::testing::HasSubstr;

Environment journal_stream(const std::string& value) {
  return [value](const std::string& name) {
    return name == "JOURNAL_STREAM" ? std::optional(value) : std::nullopt;
  };
}

TEST(LogStyleTest, ByItselfItIsTheJournalsWhereTheStreamIs) {
  const int descriptor = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  struct stat status {};
  ASSERT_EQ(::fstat(descriptor, &status), 0);
  const std::string device = std::to_string(status.st_dev), file = std::to_string(status.st_ino);
  EXPECT_EQ(log_style("auto", journal_stream(device + ":" + file), descriptor), LogStyle::kJournal);
  EXPECT_EQ(log_style("auto", journal_stream(device + ":1" + file), descriptor), LogStyle::kPlain);
  EXPECT_EQ(log_style("auto", journal_stream(""), descriptor), LogStyle::kPlain);
  EXPECT_EQ(log_style("plain", journal_stream(device + ":" + file), descriptor), LogStyle::kPlain);
  EXPECT_EQ(log_style("journal", journal_stream(""), descriptor), LogStyle::kJournal);
  ::close(descriptor);
  EXPECT_EQ(log_style("auto", journal_stream(device + ":" + file), descriptor), LogStyle::kPlain);
  EXPECT_THROW((void)log_style("jounral", journal_stream(""), 2), ConfigError);
}

TEST(LogStyleTest, AnEventIsOneLineWithItsLevel) {
  EXPECT_EQ(styled(LogStyle::kJournal, LogLevel::kDebug, "a"), "<7>a");
  EXPECT_EQ(styled(LogStyle::kJournal, LogLevel::kInfo, "a\nb"), "<6>a b");
  EXPECT_EQ(styled(LogStyle::kJournal, LogLevel::kWarning, ""), "<4>");
  EXPECT_EQ(styled(LogStyle::kJournal, LogLevel::kError, "a"), "<3>a");
  EXPECT_EQ(styled(LogStyle::kPlain, LogLevel::kError, "a\nb"), "a\nb");
}

TEST(LogStyleTest, TheLogOfAWorkerIsInThatStyleOnStderrAndPlainInItsFile) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "log.txt";
  ::testing::internal::CaptureStderr();
  {
    const LogSink log = make_log(file, "info", /*quiet=*/false, LogStyle::kJournal, 3);
    log(LogLevel::kDebug, "not shown");
    log(LogLevel::kWarning, "one\ntwo {}");
    log(LogLevel::kError, "three");
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "<4>worker 3: one two {}\n<3>worker 3: three\n");
  EXPECT_THAT(read_text(file), HasSubstr(" worker 3 warning: one\ntwo {}\n"));
  EXPECT_THAT(read_text(file), HasSubstr(" worker 3 error: three\n"));
}

}  // namespace
}  // namespace fast::testing
