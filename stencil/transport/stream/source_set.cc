#include "stencil/transport/stream/source_set.h"

#include <sys/epoll.h>

#include <array>
#include <cstddef>
#include <utility>

#include "stencil/core/error.h"

namespace stencil {

Descriptor SourceSet::make() {
  return Descriptor(::epoll_create1(EPOLL_CLOEXEC));
}

void SourceSet::watch(Source& source, int descriptor, std::uint32_t interest,
                      std::function<void(std::uint32_t)> on_events) {
  epoll_event event{};
  event.events = interest;
  event.data.ptr = &source;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) != 0) {
    throw InvariantError("cannot watch a descriptor");
  }
  source = {descriptor, std::move(on_events), true};
}

void SourceSet::unwatch(Source& source) {
  if (!std::exchange(source.watched, false)) return;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, source.descriptor, nullptr);
}

bool SourceSet::poll(int milliseconds) {
  std::array<epoll_event, 64> events;
  const int count =
      ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), milliseconds);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    auto& source = *static_cast<Source*>(event.data.ptr);
    if (source.watched) source.on_events(event.events);
  }
  return count > 0;
}

}  // namespace stencil
