#include "fast/run/metrics_tail.h"

#include <algorithm>
#include <fstream>
#include <system_error>
#include <utility>

namespace fast {
namespace {

constexpr std::uintmax_t kMostPerPoll = 4 << 20;
constexpr std::size_t kLongestLine = 4 << 20;  // no line of ours; a bound for foreign files

}  // namespace

void MetricsTail::skip() {
  std::error_code none;
  const std::uintmax_t size = std::filesystem::file_size(file_, none);
  if (!none) offset_ = size;
}

std::vector<WorkerHistory::Event> MetricsTail::poll() {
  std::vector<WorkerHistory::Event> events;
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(file_, error);
  if (error) return events;
  if (size < offset_) {
    *this = MetricsTail(file_);
  }
  if (size == offset_) return events;
  std::ifstream in(file_, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(offset_));
  std::string read(std::min(size - offset_, kMostPerPoll), '\0');
  in.read(read.data(), static_cast<std::streamsize>(read.size()));
  if (in.gcount() <= 0) return events;
  read.resize(static_cast<std::size_t>(in.gcount()));
  offset_ += read.size();

  partial_ += read;
  std::size_t begin = 0;
  for (std::size_t newline; (newline = partial_.find('\n', begin)) != std::string::npos;
       begin = newline + 1) {
    take(partial_.substr(begin, newline - begin), events);
  }
  partial_.erase(0, begin);
  if (partial_.size() > kLongestLine) {
    partial_.clear();
    ++unreadable_;
  }
  return events;
}

void MetricsTail::take(const std::string& line, std::vector<WorkerHistory::Event>& events) {
  if (line.find_first_not_of(" \t\r") == std::string::npos) return;
  auto parsed = parse_metrics_line(line);
  if (!parsed) {
    ++unreadable_;
  } else if (auto* start = std::get_if<WorkerStart>(&*parsed)) {
    start_ = std::move(*start);
    ++starts_;
    progress_.reset();
    end_.reset();
  } else if (auto* progress = std::get_if<WorkerProgress>(&*parsed)) {
    progress_ = std::move(*progress);
  } else if (auto* event = std::get_if<WorkerHistory::Event>(&*parsed)) {
    events.push_back(std::move(*event));
  } else if (auto* end = std::get_if<WorkerEnd>(&*parsed)) {
    end_ = std::move(*end);
  }
}

}  // namespace fast
