#include "stencil/runtime/outbox.h"

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

Outbox::Outbox(Transport& transport, std::uint32_t window, std::uint64_t& dropped, Integrity links)
    : transport_(transport),
      most_(kMostWaiting + 2 * std::size_t{window}),
      dropped_(dropped),
      links_(links) {}

void Outbox::send(Edge& to, const Message& message) {
  auto& waiting = to.link.backlog;
  const bool full = waiting.size() >= most_ && may_be_dropped(message);
  if (to.link.in_service == 0 || full) {
    ++dropped_;
    return;
  }
  Frame frame = encode_frame(message, links_);
  const auto place = place_in_line(waiting, 0, frame, std::identity());
  waiting.insert(place, std::move(frame));
  flush(to);
}

void Outbox::flush(Edge& to) {
  auto& waiting = to.link.backlog;
  std::size_t sent = 0;
  SendStatus status = SendStatus::kSent;
  for (; sent < waiting.size(); ++sent) {
    Frame& frame = waiting[sent];
    const std::size_t bytes = frame.header.size() + view(frame.payload).size();
    status = transport_.send(to.link.in_service, std::move(frame));
    if (status != SendStatus::kSent) break;
    to.link.bytes_sent += bytes;
  }
  waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(sent));
  if (status == SendStatus::kDown) {
    // The transport will report the end of the link, but only after the frames that arrived before
    // it, which may include their Leave. Synchronising the edge anew makes up for the frames lost
    // now.
    dropped_ += waiting.size();
    waiting.clear();
  }
}

}  // namespace stencil
