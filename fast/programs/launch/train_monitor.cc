#include "fast/programs/launch/train_monitor.h"

#include <algorithm>
#include <iostream>
#include <thread>

namespace fast {

TrainMonitor::TrainMonitor(const RunFolder& folder, int workers, bool quiet)
    : ended_after_(static_cast<std::size_t>(workers)),
      views_(static_cast<std::size_t>(workers)),
      table_(std::cout, screen_style()),
      quiet_(quiet),
      start_(std::chrono::steady_clock::now()) {
  for (int rank = 0; rank < workers; ++rank) tails_.emplace_back(folder.metrics(rank));
  for (MetricsTail& tail : tails_) tail.skip();
}

double TrainMonitor::elapsed() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void TrainMonitor::poll() {
  for (std::size_t rank = 0; rank < tails_.size(); ++rank) {
    MetricsTail& tail = tails_[rank];
    for (const WorkerHistory::Event& event : tail.poll()) {
      say("worker " + std::to_string(rank) + ": " + event.text, false);
    }
    WorkerView& view = views_[rank];
    if (tail.progress()) view.progress = tail.progress();
    view.restarts = std::max(view.restarts, tail.starts() - 1);
  }
}

void TrainMonitor::tick(const std::vector<WorkerProcess>& processes) {
  poll();
  for (std::size_t rank = 0; rank < processes.size(); ++rank) {
    const WorkerProcess& process = processes[rank];
    if (process.running) {
      ended_after_[rank].reset();
    } else if (!ended_after_[rank]) {
      ended_after_[rank] = tails_[rank].starts();
    }
    WorkerView& view = views_[rank];
    view.restarts = std::max(view.restarts, process.restarts);
    view.exit_code = process.exit.shell_code();
    view.process = !process.running && !returned(rank) ? WorkerView::Process::kExited
                   : tails_[rank].start()              ? WorkerView::Process::kRunning
                                                       : WorkerView::Process::kStarting;
  }
  if (quiet_) return;
  const ScreenStyle style = screen_style();
  table_.resize(style.width, style.height);
  table_.update(elapsed(), views_);
}

void TrainMonitor::say(const std::string& line, bool bad) {
  if (!quiet_) return table_.say(line);
  if (bad) std::cerr << line << '\n';
}

void TrainMonitor::finish() {
  poll();
  if (!quiet_) table_.finish(elapsed(), views_);
}

bool TrainMonitor::returned(std::size_t rank) const {
  return ended_after_[rank] && tails_[rank].starts() > *ended_after_[rank] && !tails_[rank].end();
}

bool TrainMonitor::wait_for_returned(double patience_seconds,
                                     const std::function<bool()>& stopped) {
  using Clock = std::chrono::steady_clock;
  const auto patience =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(patience_seconds));
  Clock::time_point last_life = Clock::now();
  std::vector<double> seen(tails_.size(), -1);
  bool any = false;
  for (;;) {
    poll();
    bool waiting = false;
    for (std::size_t rank = 0; rank < tails_.size(); ++rank) {
      if (!returned(rank)) continue;
      const MetricsTail& tail = tails_[rank];
      waiting = true;
      const double time = tail.progress() ? tail.progress()->time : 0;
      if (time != seen[rank]) last_life = Clock::now();
      seen[rank] = time;
    }
    if (!waiting || Clock::now() - last_life > patience || stopped()) return any;
    if (!any) say("waiting for a worker that was started again by hand", false);
    any = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
  }
}

bool TrainMonitor::any_started() const {
  return std::any_of(tails_.begin(), tails_.end(),
                     [](const MetricsTail& tail) { return tail.start().has_value(); });
}

}  // namespace fast
