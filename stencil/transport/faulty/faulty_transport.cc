#include "stencil/transport/faulty/faulty_transport.h"

#include <algorithm>
#include <utility>

namespace stencil {

FaultyTransport::FaultyTransport(std::unique_ptr<Transport> inner, const FaultyOptions& options)
    : inner_(std::move(inner)), options_(options), random_(options.seed) {}

void FaultyTransport::cut(LinkId id, TimePoint until) {
  const auto found = links_.find(id);
  if (found == links_.end() || found->second.cut) return;
  Link& link = found->second;
  link.cut = true;
  link.until = until;
  ++counts_.cuts;
  lose_held(id);
  if (link.up) hold(id, link, LinkEvent::kDown, {}, false);
}

void FaultyTransport::heal(LinkId id) {
  const auto found = links_.find(id);
  if (found == links_.end() || !found->second.cut) return;
  Link& link = found->second;
  link.cut = false;
  if (!link.dialled)
    forget(id);
  else if (link.up)
    hold(id, link, LinkEvent::kUp, {}, false);
}

void FaultyTransport::advance(TimePoint now) {
  now_ = std::max(now_, now);
  std::vector<LinkId> healed;
  for (const auto& [id, link] : links_) {
    if (link.cut && link.until <= now_) healed.push_back(id);
  }
  for (const LinkId id : healed) heal(id);
}

TimePoint FaultyTransport::next_change() const {
  TimePoint next = kNever;
  for (const Held& held : held_) {
    if (held.time > now_) next = std::min(next, held.time);
  }
  for (const auto& entry : links_) {
    if (entry.second.cut) next = std::min(next, entry.second.until);
  }
  return next;
}

LinkId FaultyTransport::dial(const PeerAddress& address) {
  const LinkId inner = inner_->dial(address);
  const LinkId id = outer(inner);
  links_.at(id).dialled = true;
  links_.at(id).up = false;
  return id;
}

void FaultyTransport::drop(LinkId id) {
  const auto found = links_.find(id);
  if (found == links_.end()) return;
  inner_->drop(found->second.inner);
  lose_held(id);
  forget(id);
}

SendStatus FaultyTransport::send(LinkId id, Frame&& frame) {
  const auto found = links_.find(id);
  if (found == links_.end() || found->second.cut) return SendStatus::kDown;
  const LinkId inner = found->second.inner;
  if (happens(options_.send.drop)) {
    ++counts_.dropped;
    frame = Frame{};
    return SendStatus::kSent;
  }
  const bool twice = happens(options_.send.duplicate);
  const bool damaged = happens(options_.send.corrupt) && frame.payload;
  if (!twice && !damaged) return inner_->send(inner, std::move(frame));
  Frame first = damaged ? corrupted(frame) : frame;
  Frame second = twice ? first : Frame{};
  const SendStatus status = inner_->send(inner, std::move(first));
  if (status != SendStatus::kSent) return status;
  if (damaged) ++counts_.corrupted;
  if (twice && inner_->send(inner, std::move(second)) == SendStatus::kSent) ++counts_.duplicated;
  frame = Frame{};
  return status;
}

std::optional<Received> FaultyTransport::receive() {
  ++calls_;
  while (true) {
    if (std::optional<Received> due = next_due()) return due;
    std::optional<Received> received = inner_->receive();
    if (!received) return std::nullopt;
    take_in(*std::move(received));
  }
}

TransportStats FaultyTransport::stats() const {
  TransportStats stats = inner_->stats();
  stats.discarded += counts_.dropped;
  return stats;
}

bool FaultyTransport::happens(double probability) {
  return probability > 0 && random_.uniform() < probability;
}

Frame FaultyTransport::corrupted(const Frame& frame) {
  Bytes bytes(view(frame.payload).begin(), view(frame.payload).end());
  if (!bytes.empty()) {
    const std::uint64_t bit = random_.below(bytes.size() * 8);
    bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
  }
  return {frame.header, Payload(std::move(bytes))};
}

LinkId FaultyTransport::outer(LinkId inner) {
  const auto known = by_inner_.find(inner);
  if (known != by_inner_.end()) return known->second;
  const LinkId id = ++last_link_;
  by_inner_.emplace(inner, id);
  links_[id].inner = inner;
  links_[id].up = true;
  return id;
}

void FaultyTransport::take_in(Received received) {
  if (received.event == LinkEvent::kDown && !by_inner_.contains(received.link)) return;
  const LinkId id = outer(received.link);
  Link& link = links_.at(id);
  if (received.event != LinkEvent::kDown) link.proven = received.proven;
  if (received.event == LinkEvent::kFrame) {
    take_in_frame(id, link, std::move(received.frame));
    return;
  }
  link.up = received.event == LinkEvent::kUp;
  if (!link.cut) hold(id, link, received.event, {}, false);
  if (!link.up && !link.dialled) forget(id);
}

void FaultyTransport::take_in_frame(LinkId id, Link& link, Frame frame) {
  if (link.cut || happens(options_.receive.drop) || held_.size() >= options_.max_held) {
    ++counts_.dropped;
    return;
  }
  if (happens(options_.receive.corrupt) && frame.payload) {
    ++counts_.corrupted;
    frame = corrupted(frame);
  }
  const bool twice = happens(options_.receive.duplicate);
  const bool delayed = happens(options_.delay);
  Frame second = twice ? frame : Frame{};
  hold(id, link, LinkEvent::kFrame, std::move(frame), delayed);
  if (!twice) return;
  ++counts_.duplicated;
  hold(id, link, LinkEvent::kFrame, std::move(second), false);
}

void FaultyTransport::hold(LinkId id, Link& link, LinkEvent event, Frame frame, bool delayed) {
  Held held{{event, id, std::move(frame), link.proven}, calls_, now_};
  if (delayed) {
    ++counts_.delayed;
    if (options_.delay_calls > 0)
      held.call += 1 + static_cast<std::int64_t>(
                           random_.below(static_cast<std::uint64_t>(options_.delay_calls)));
    if (options_.delay_time.count() > 0)
      held.time += Duration(static_cast<Duration::rep>(
          random_.below(static_cast<std::uint64_t>(options_.delay_time.count()) + 1)));
  }
  if (options_.keep_order) {
    held.call = link.last_call = std::max(link.last_call, held.call);
    held.time = link.last_time = std::max(link.last_time, held.time);
  }
  held_.push_back(std::move(held));
}

void FaultyTransport::forget(LinkId id) {
  by_inner_.erase(links_.at(id).inner);
  links_.erase(id);
}

void FaultyTransport::lose_held(LinkId id) {
  std::erase_if(held_, [id](const Held& held) { return held.received.link == id; });
}

std::optional<Received> FaultyTransport::next_due() {
  const auto due = std::find_if(held_.begin(), held_.end(), [this](const Held& held) {
    return held.call <= calls_ && held.time <= now_;
  });
  if (due == held_.end()) return std::nullopt;
  Received received = std::move(due->received);
  held_.erase(due);
  return received;
}

}  // namespace stencil
