#include "stencil/transport/zmq/door.h"

#include <linux/filter.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <iterator>
#include <limits>

namespace stencil {
namespace {

/// Newcomers take a part in so many of the open files that this process may have.
constexpr rlim_t kShareOfLimit = 16;
constexpr rlim_t kFewest = 16, kMost = 64;
constexpr std::size_t kHeldInAll = 1 << 20;
/// libzmq's own patience with a handshake is five seconds.
constexpr Duration kPatience = std::chrono::seconds(10);
constexpr Duration kGrace = std::chrono::milliseconds(500);
/// Of those that wait before the door as it is shut, so many still come in.
constexpr int kWaiting = 64;

std::uint16_t own_port(int listener) {
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  if (::getsockname(listener, reinterpret_cast<sockaddr*>(&own), &size) != 0) return 0;
  if (own.ss_family == AF_INET) return ntohs(reinterpret_cast<sockaddr_in&>(own).sin_port);
  if (own.ss_family == AF_INET6) return ntohs(reinterpret_cast<sockaddr_in6&>(own).sin6_port);
  return 0;
}

}  // namespace

DoorBounds DoorBounds::of(std::size_t max_frame_bytes, bool encrypted) {
  rlimit limit{};
  const rlim_t files = ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
  const std::size_t held = most_held(max_frame_bytes, encrypted);
  return {.newcomers = static_cast<std::size_t>(std::clamp(files / kShareOfLimit, kFewest, kMost)),
          .held = held,
          .held_in_all = std::max(kHeldInAll, 2 * held),
          .patience = kPatience,
          .grace = kGrace};
}

Door::Door(int listener, Hangup& hangup, const DoorBounds& bounds)
    : listener_(listener), port_(own_port(listener)), hangup_(hangup), bounds_(bounds) {
  ::listen(listener_, kWaiting);
}

Door::~Door() {
  set_shut(false);
}

void Door::came(TimePoint now, int descriptor) {
  guests_.erase(descriptor);
  if (std::optional<Meter> meter = Meter::of(descriptor, port_)) {
    guests_.emplace(descriptor, Guest{.meter = std::move(*meter), .since = now});
  }
  if (newcomers() < bounds_.newcomers) return;
  // libzmq closes those that have left before word of it comes.
  look_at_all();
  if (newcomers() >= bounds_.newcomers) set_shut(true);
}

void Door::look_at_all() {
  for (auto it = guests_.begin(); it != guests_.end();) {
    it = it->second.meter.look() ? std::next(it) : guests_.erase(it);
  }
}

bool Door::knows(int descriptor) {
  const auto guest = guests_.find(descriptor);
  return guest != guests_.end() && guest->second.meter.look();
}

/// Word of it comes before libzmq closes it, or after the number has a new connection: one that is
/// there still is left to the next look().
void Door::left(int descriptor) {
  if (!knows(descriptor)) guests_.erase(descriptor);
}

void Door::heard(int descriptor, std::size_t wire_bytes) {
  if (const auto guest = guests_.find(descriptor); guest != guests_.end()) {
    guest->second.meter.heard(wire_bytes);
  }
}

void Door::trust(int descriptor) {
  if (const auto guest = guests_.find(descriptor); guest != guests_.end()) {
    guest->second.trusted = true;
  }
}

void Door::hang_up(int descriptor) {
  std::uint64_t uncounted = 0;
  const auto guest = guests_.find(descriptor);
  if (guest != guests_.end()) hang_up(guest->second, uncounted);
}

void Door::hang_up(Guest& guest, std::uint64_t& count) {
  if (guest.ending) return;
  guest.ending = true;
  ++count;
  hangup_.hang_up(guest.meter.descriptor(), guest.meter.identity());
}

void Door::shut_until(TimePoint time) {
  shut_until_ = time;
  set_shut(true);
}

std::size_t Door::newcomers() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(guests_, [](const auto& entry) { return !entry.second.trusted; }));
}

Door::Guest* Door::first_to_go(TimePoint now) {
  std::map<std::string, std::size_t> of_host;
  for (const auto& [descriptor, guest] : guests_) {
    if (!guest.trusted && !guest.ending) ++of_host[guest.meter.host()];
  }
  Guest* first = nullptr;
  std::size_t most = 0;
  for (auto& [descriptor, guest] : guests_) {
    if (guest.trusted || guest.ending || now < guest.since + bounds_.grace) continue;
    const std::size_t beside = of_host[guest.meter.host()];
    if (first == nullptr || beside > most || (beside == most && guest.since < first->since)) {
      first = &guest;
      most = beside;
    }
  }
  return first;
}

bool Door::look(TimePoint now) {
  bool over = false;
  look_at_all();
  for (auto& [descriptor, guest] : guests_) {
    over = over || (!guest.ending && guest.meter.held() > bounds_.held);
    const bool silent = !guest.trusted && !guest.meter.has_said_anything();
    if (silent && now >= guest.since + bounds_.patience) hang_up(guest, sent_.silent);
  }
  if (!shut_) return over || greediest() != nullptr;
  const auto staying = [this] {
    return static_cast<std::size_t>(std::ranges::count_if(
        guests_, [](const auto& entry) { return !entry.second.trusted && !entry.second.ending; }));
  };
  while (2 * staying() > bounds_.newcomers) {
    Guest* const guest = first_to_go(now);
    if (guest == nullptr) break;
    hang_up(*guest, sent_.crowded);
  }
  if (now >= shut_until_ && newcomers() < bounds_.newcomers) set_shut(false);
  return over || greediest() != nullptr;
}

Door::Guest* Door::greediest() {
  std::size_t sum = 0;
  Guest* most = nullptr;
  for (auto& [descriptor, guest] : guests_) {
    if (guest.trusted || guest.ending) continue;
    sum += guest.meter.held();
    if (most == nullptr || guest.meter.held() > most->meter.held()) most = &guest;
  }
  return sum > bounds_.held_in_all ? most : nullptr;
}

std::size_t Door::held() const {
  std::size_t sum = 0;
  for (const auto& [descriptor, guest] : guests_) sum += guest.meter.held();
  return sum;
}

void Door::judge() {
  for (auto& [descriptor, guest] : guests_) {
    if (guest.meter.held() > bounds_.held) hang_up(guest, sent_.endless);
  }
  while (Guest* const guest = greediest()) hang_up(*guest, sent_.endless);
}

/// A filter that lets nothing through: the system drops what asks for a connection, which is tried
/// again, and neither libzmq nor who is in hears of it. Local sockets take no heed.
void Door::set_shut(bool shut) {
  if (shut == shut_) return;
  shut_ = shut;
  sock_filter drop_all[] = {{.code = BPF_RET | BPF_K, .jt = 0, .jf = 0, .k = 0}};
  const sock_fprog filter{.len = 1, .filter = drop_all};
  const int none = 0;
  if (shut) {
    ::setsockopt(listener_, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter);
  } else {
    ::setsockopt(listener_, SOL_SOCKET, SO_DETACH_FILTER, &none, sizeof none);
  }
}

}  // namespace stencil
