#include "stencil/runtime/outbox.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace stencil {
namespace {

/// Frames that may wait for a full link, in addition to both ends' windows, before messages that
/// are sent again anyway are dropped.
constexpr std::size_t kMostWaiting = 64;

/// Whether the message is sent again, or asked for again.
bool may_be_dropped(const Message& message) {
  return message.is<Hello>() || message.is<HelloRequest>() || message.is<Heartbeat>() ||
         message.is<Pull>() || message.is<Snapshot>();
}

}  // namespace

Outbox::Outbox(Transport& transport, std::uint32_t window, std::uint64_t& dropped, Integrity links,
               Pacer pacer)
    : transport_(transport),
      most_(kMostWaiting + 2 * std::size_t{window}),
      dropped_(dropped),
      links_(links),
      pacer_(pacer) {}

void Outbox::drop_older(Connection& link, const MessageHeader& header) {
  const std::pair epochs{header.sender_epoch, header.receiver_epoch};
  if (std::exchange(link.epochs, epochs) == epochs) return;
  dropped_ += std::erase_if(link.backlog, [](const Frame& frame) { return bool{frame.payload}; });
}

void Outbox::send(Edge& to, const Message& message) {
  drop_older(to.link, message.header);
  auto& waiting = to.link.backlog;
  const bool full = waiting.size() >= most_ && may_be_dropped(message);
  if (to.link.in_service == 0 || full) {
    ++dropped_;
    return;
  }
  Frame frame = encode_frame(message, links_);
  const auto place = place_in_line(waiting, 0, frame, std::identity());
  waiting.insert(place, std::move(frame));
  // With a rate payloads go when all edges take turns.
  (void)flush(to, pacer_.paces() ? 0 : SIZE_MAX);
}

void Outbox::flush(Edges& edges) {
  for (auto& [rank, edge] : edges) (void)flush(edge, pacer_.paces() ? 0 : SIZE_MAX);
  take_turns(edges);
}

void Outbox::take_turns(Edges& edges) {
  if (!pacer_.paces()) return;
  auto next = edges.upper_bound(served_);
  for (std::size_t idle = 0; idle < edges.size() && pacer_.open(); ++next) {
    if (next == edges.end()) next = edges.begin();
    const bool sent = flush(next->second, 1) > 0;
    if (sent) served_ = next->first;
    idle = sent ? 0 : idle + 1;
  }
}

TimePoint Outbox::next(const Edges& edges) const {
  const bool waits = !pacer_.open() && std::ranges::any_of(edges, [](const auto& edge) {
    return !edge.second.link.backlog.empty();
  });
  return waits ? pacer_.opens() : kNever;
}

std::size_t Outbox::flush(Edge& to, std::size_t payloads) {
  auto& waiting = to.link.backlog;
  std::size_t sent = 0, carried = 0;
  SendStatus status = SendStatus::kSent;
  for (; sent < waiting.size(); ++sent) {
    Frame& frame = waiting[sent];
    const bool payload = static_cast<bool>(frame.payload);
    if (payload && (carried == payloads || !pacer_.open())) break;
    const std::size_t bytes = frame.header.size() + view(frame.payload).size();
    status = transport_.send(to.link.in_service, std::move(frame));
    if (status != SendStatus::kSent) break;
    to.link.bytes_sent += bytes;
    pacer_.take(bytes);
    if (payload) ++carried;
  }
  waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(sent));
  if (status == SendStatus::kDown) {
    // The transport will report the end of the link, but only after the frames that arrived before
    // it, which may include their Leave. Synchronising the edge anew makes up for the frames lost
    // now.
    dropped_ += waiting.size();
    waiting.clear();
  }
  return carried;
}

}  // namespace stencil
