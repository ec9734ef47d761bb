#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fast/options/environment.h"
#include "fast/options/session_options.h"

namespace fast {

/// How lines on standard error look.
enum class LogStyle : std::uint8_t {
  kPlain,
  kJournal,  ///< as systemd's journal takes them: "<4>text", without a time, one line an event
};

/// The style that `name` asks for, "plain" or "journal"; "auto": kJournal where `descriptor` is
/// the stream to the journal that JOURNAL_STREAM tells of (systemd.exec(5)). Throws ConfigError.
[[nodiscard]] LogStyle log_style(const std::string& name, const Environment& environment,
                                 int descriptor);

/// One event as a line in that style, without the newline. kPlain: as it is.
[[nodiscard]] std::string styled(LogStyle style, LogLevel level, std::string_view text);

}  // namespace fast
