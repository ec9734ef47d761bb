#include "fast/train/log.h"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fast/errors.h"

namespace fast {
namespace {

spdlog::level::level_enum to_spdlog(stencil::LogLevel level) {
  switch (level) {
    case stencil::LogLevel::kDebug:
      return spdlog::level::debug;
    case stencil::LogLevel::kInfo:
      return spdlog::level::info;
    case stencil::LogLevel::kWarning:
      return spdlog::level::warn;
    case stencil::LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

LogLevel from_spdlog(spdlog::level::level_enum level) {
  if (level >= spdlog::level::err) return LogLevel::kError;
  if (level == spdlog::level::warn) return LogLevel::kWarning;
  return level == spdlog::level::info ? LogLevel::kInfo : LogLevel::kDebug;
}

/// A whole line as the journal takes it.
class JournalLine final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm& /*time*/,
              spdlog::memory_buf_t& line) override {
    const std::string text = std::string(message.logger_name.data(), message.logger_name.size()) +
                             ": " + std::string(message.payload.data(), message.payload.size());
    const std::string out = styled(LogStyle::kJournal, from_spdlog(message.level), text);
    line.append(out.data(), out.data() + out.size());
  }
  [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
    return spdlog::details::make_unique<JournalLine>();
  }
};

spdlog::level::level_enum parse_level(const std::string& level) {
  if (level == "debug") return spdlog::level::debug;
  if (level == "info") return spdlog::level::info;
  if (level == "warning") return spdlog::level::warn;
  if (level == "error") return spdlog::level::err;
  throw ConfigError("unknown log level '" + level + "'", "use debug, info, warning or error");
}

}  // namespace

stencil::LogSink make_log(const std::filesystem::path& file, const std::string& level, bool quiet,
                          LogStyle style, int rank) {
  const auto threshold = parse_level(level);
  std::vector<spdlog::sink_ptr> sinks;
  try {
    sinks.push_back(std::make_shared<spdlog::sinks::basic_file_sink_mt>(file.string()));
  } catch (const spdlog::spdlog_ex& error) {
    throw FileError(error.what(), "check that the folder is writable");
  }
  if (!quiet) sinks.push_back(std::make_shared<spdlog::sinks::stderr_sink_mt>());
  auto logger = std::make_shared<spdlog::logger>("worker " + std::to_string(rank), sinks.begin(),
                                                 sinks.end());
  logger->set_pattern("%Y-%m-%d %H:%M:%S.%e %n %l: %v");
  if (!quiet && style == LogStyle::kJournal) {
    auto formatter = std::make_unique<spdlog::pattern_formatter>();
    formatter->add_flag<JournalLine>('*').set_pattern("%*");
    sinks.back()->set_formatter(std::move(formatter));
  }
  logger->set_level(threshold);
  logger->flush_on(spdlog::level::info);
  return [logger](stencil::LogLevel at, std::string_view text) {
    logger->log(to_spdlog(at), "{}", text);
  };
}

}  // namespace fast
