#include "fast/run/thinning.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "fast/run/metrics_json.h"

namespace fast {
namespace {

bool is_of_kind(std::string_view line, std::string_view kind) {
  constexpr std::string_view kKey = R"({"kind":")";
  return line.starts_with(kKey) && line.substr(kKey.size()).starts_with(kind);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

/// The number and the time of a progress line of one life.
struct Moment {
  std::size_t index;
  double time;
};
using Lives = std::vector<std::vector<Moment>>;

/// The indices of the lines to leave out, sorted.
std::vector<std::size_t> surplus(const Lives& lives) {
  double span = 0;
  for (const auto& life : lives) {
    if (!life.empty()) span += std::max(0.0, life.back().time - life.front().time);
  }
  const double spacing = span / (static_cast<double>(kMostProgressLines) / 2);
  std::vector<std::size_t> out;
  for (const auto& life : lives) {
    for (std::size_t i = 1, kept = 0; i + 1 < life.size(); ++i) {
      if (life[i].time >= life[kept].time + spacing) {
        kept = i;
      } else {
        out.push_back(life[i].index);
      }
    }
  }
  return out;
}

}  // namespace

bool is_progress_line(std::string_view line) {
  return is_of_kind(line, "progress");
}

std::string thinned(std::string_view metrics) {
  const std::vector<std::string_view> lines = lines_of(metrics);
  Lives lives(1);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (is_of_kind(lines[i], "start")) lives.emplace_back();
    if (!is_progress_line(lines[i])) continue;
    const auto parsed = parse_metrics_line(lines[i]);
    const auto* progress = parsed ? std::get_if<WorkerProgress>(&*parsed) : nullptr;
    if (progress != nullptr) lives.back().push_back({i, progress->time});
  }
  const std::vector<std::size_t> left_out = surplus(lives);
  std::string out;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!std::ranges::binary_search(left_out, i)) out += lines[i];
  }
  return out;
}

void thin(WorkerHistory& history) {
  Lives lives;
  for (std::size_t life = 0; life < history.lives.size(); ++life) {
    const bool last = life + 1 == history.lives.size();
    const std::size_t end = last ? history.progress.size() : history.lives[life + 1].first_progress;
    lives.emplace_back();
    for (std::size_t i = history.lives[life].first_progress; i < end; ++i) {
      lives.back().push_back({i, history.progress[i].time});
    }
  }
  const std::vector<std::size_t> left_out = surplus(lives);
  std::vector<WorkerProgress> kept;
  for (std::size_t life = 0; life < lives.size(); ++life) {
    history.lives[life].first_progress = kept.size();
    for (const Moment& moment : lives[life]) {
      WorkerProgress& progress = history.progress[moment.index];
      if (progress.test_accuracy || !std::ranges::binary_search(left_out, moment.index)) {
        kept.push_back(std::move(progress));
      }
    }
  }
  history.progress = std::move(kept);
}

}  // namespace fast
