#include "stencil/engine/pull_plan.h"

#include <algorithm>

namespace stencil {

void PullPlan::start(std::uint64_t round, std::span<const Rank> sources, std::uint32_t more) {
  round_ = round;
  sources_.assign(sources.begin(), sources.end());
  in_work_.clear();
  to_ask_.clear();
  total_ = buckets_ + more;
  begun_ = sources_.empty() ? total_ : 0;
  active_ = true;
}

void PullPlan::stop() {
  active_ = false;
  in_work_.clear();
  to_ask_.clear();
}

std::optional<PullPlan::Pull> PullPlan::next(TimePoint now) {
  if (!active_) return std::nullopt;
  if (to_ask_.empty()) {
    if (begun_ == total_ || in_work_.size() >= window_) return std::nullopt;
    to_ask_.push_back({{begun_++, sources_.front(), now}, 0});
  }
  Work work = to_ask_.front();
  to_ask_.erase(to_ask_.begin());
  work.pull.since = now;
  in_work_.push_back(work);
  return work.pull;
}

bool PullPlan::complete(Rank rank, std::uint32_t bucket, std::uint64_t round) {
  if (!active_ || round != round_) return false;
  const auto it = std::ranges::find_if(
      in_work_, [&](const Work& w) { return w.pull.rank == rank && w.pull.bucket == bucket; });
  if (it == in_work_.end()) return false;
  Work work = *it;
  in_work_.erase(it);
  if (++work.source < sources_.size()) {
    work.pull.rank = sources_[work.source];
    to_ask_.push_back(work);
  }
  return true;
}

void PullPlan::repeat(Rank rank) {
  for (auto it = in_work_.begin(); it != in_work_.end();) {
    if (it->pull.rank == rank) {
      to_ask_.push_back(*it);
      it = in_work_.erase(it);
    } else {
      ++it;
    }
  }
}

std::vector<PullPlan::Pull> PullPlan::overdue(TimePoint then, TimePoint now) {
  std::vector<Pull> pulls;
  for (Work& work : in_work_) {
    if (work.pull.since > then) continue;
    work.pull.since = now;
    pulls.push_back(work.pull);
  }
  return pulls;
}

TimePoint PullPlan::oldest() const {
  TimePoint oldest = kNever;
  for (const Work& work : in_work_) oldest = std::min(oldest, work.pull.since);
  return oldest;
}

std::vector<Rank> PullPlan::awaited() const {
  std::vector<Rank> ranks;
  for (const Work& work : in_work_) ranks.push_back(work.pull.rank);
  std::ranges::sort(ranks);
  // Not std::ranges::unique: clang 14, which builds the fuzz targets, has no use of its subrange.
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

}  // namespace stencil
