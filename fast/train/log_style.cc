#include "fast/train/log_style.h"

#include <sys/stat.h>

#include <algorithm>

#include "fast/errors.h"
#include "stencil/core/text.h"

namespace fast {
namespace {

/// Whether `descriptor` is what `stream` tells of, "DEVICE:INODE".
bool leads_to(const std::string& stream, int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 &&
         stream == std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
}

/// The number of sd-daemon(3), from <syslog.h>.
char priority(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return '7';
    case LogLevel::kInfo:
      return '6';
    case LogLevel::kWarning:
      return '4';
    case LogLevel::kError:
      return '3';
  }
  return '6';
}

}  // namespace

LogStyle log_style(const std::string& name, const Environment& environment, int descriptor) {
  if (name == "plain") return LogStyle::kPlain;
  if (name == "journal") return LogStyle::kJournal;
  if (name != "auto") {
    throw ConfigError("unknown log style " + stencil::in_quotes(name),
                      "use auto, plain or journal");
  }
  const auto stream = environment("JOURNAL_STREAM");
  return stream && leads_to(*stream, descriptor) ? LogStyle::kJournal : LogStyle::kPlain;
}

std::string styled(LogStyle style, LogLevel level, std::string_view text) {
  if (style == LogStyle::kPlain) return std::string(text);
  std::string line = {'<', priority(level), '>'};
  line += text;
  std::ranges::replace(line, '\n', ' ');
  return line;
}

}  // namespace fast
