#include "fast/run/metrics_tail.h"

#include <algorithm>
#include <fstream>
#include <system_error>
#include <utility>

#include "fast/run/thinning.h"

namespace fast {
namespace {

constexpr std::uintmax_t kMostPerPoll = 4 << 20;
constexpr std::size_t kLongestLine = 4 << 20;  // a bound for untrusted files; our lines are shorter

}  // namespace

void MetricsTail::skip() {
  std::ifstream in(file_, std::ios::binary);
  for (std::string line; std::getline(in, line);) {
    if (offset_ == 0) first_line_ = line;
    offset_ += line.size() + (in.eof() ? 0 : 1);
    if (!is_progress_line(line)) ++other_lines_;
  }
}

std::string MetricsTail::first_line() const {
  std::ifstream in(file_, std::ios::binary);
  std::string line;
  std::getline(in, line);
  return line;
}

void MetricsTail::begin_again() {
  if (first_line_.empty() || first_line() != first_line_) {
    *this = MetricsTail(file_);
    return;
  }
  offset_ = 0;
  partial_.clear();
  seen_before_ = other_lines_;
}

std::vector<WorkerHistory::Event> MetricsTail::poll() {
  std::vector<WorkerHistory::Event> events;
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(file_, error);
  if (error) return events;
  if (size < offset_) begin_again();
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
  if (first_line_.empty()) first_line_ = line;
  if (!is_progress_line(line)) {
    if (seen_before_ > 0) {
      --seen_before_;
      return;
    }
    ++other_lines_;
  }
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
