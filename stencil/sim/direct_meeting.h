#pragma once

#include <functional>
#include <map>
#include <string>

#include "stencil/shared/meeting.h"

namespace stencil::sim {

/// Workers of one process that map each other's segments with no socket between. One thread.
class DirectMeeting final : public Meeting {
 public:
  /// The segment of a rank that this worker shall reach; null for the others.
  using Find = std::function<Segment*(Rank)>;
  DirectMeeting(const Layout& layout, Find find) : layout_(layout), find_(std::move(find)) {}

  [[nodiscard]] const std::string& token() const override { return token_; }
  void meet(Rank rank, const std::string& token) override;
  void forget(Rank rank) override { mapped_.erase(rank); }
  void poll() override {}
  [[nodiscard]] Segment* find(Rank rank) override;

 private:
  Layout layout_;
  Find find_;
  std::string token_ = "simulated";
  std::map<Rank, Segment> mapped_;
};

}  // namespace stencil::sim
