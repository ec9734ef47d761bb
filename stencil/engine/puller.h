#pragma once

#include <cstdint>
#include <span>

#include "stencil/engine/pull_plan.h"
#include "stencil/engine/self.h"

namespace stencil {

/// Sends the pulls of a PullPlan, and sends them again where no answer comes. One thread.
class Puller {
 public:
  explicit Puller(Self& self) : self_(self), plan_(self.config.buckets, self.config.window) {}

  [[nodiscard]] PullPlan& plan() { return plan_; }
  [[nodiscard]] const PullPlan& plan() const { return plan_; }
  /// Sends what may be sent.
  void issue(TimePoint now, Actions& out);
  /// Sends again what was lost.
  void tick(TimePoint now, Actions& out);
  [[nodiscard]] TimePoint next() const;

  /// See Engine::fields().
  template <typename A, typename T>
  static void fields(A& a, T& v) {
    a(v.plan_);
  }

 private:
  void send(TimePoint now, const PullPlan::Pull& pull, Actions& out);

  Self& self_;
  PullPlan plan_;
};

}  // namespace stencil
