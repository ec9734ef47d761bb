#include "stencil/mix/team.h"

namespace stencil {

Team::Team(int threads) {
  for (int i = 1; i < threads; ++i) helpers_.emplace_back([this] { help(); });
}

Team::~Team() {
  over_ = true;
  ++calls_;
  calls_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

void Team::run(const Job& job) {
  job_ = job;
  next_ = 0;
  if (helpers_.empty()) return take_part();
  inside_ = 0;
  ++calls_;
  calls_.notify_all();
  take_part();
  for (std::uint32_t inside = inside_ |= kClosed; inside != kClosed; inside = inside_) {
    inside_.wait(inside);
  }
}

void Team::take_part() {
  for (std::uint32_t i = next_++; i < job_.count; i = next_++) job_.call(job_.context, i);
}

bool Team::enter() {
  std::uint32_t inside = inside_;
  while ((inside & kClosed) == 0) {
    if (inside_.compare_exchange_weak(inside, inside + 1)) return true;
  }
  return false;
}

void Team::help() {
  std::uint32_t seen = 0;
  while (!over_) {
    calls_.wait(seen);
    seen = calls_;
    if (!enter()) continue;
    take_part();
    --inside_;
    inside_.notify_one();
  }
}

}  // namespace stencil
