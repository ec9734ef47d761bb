#include "stencil/shared/unix_meeting.h"

#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <system_error>

#include "stencil/shared/packet.h"

namespace stencil {
namespace {

std::string hex(std::uint64_t value) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text(16, '0');
  for (int i = 15; i >= 0; --i, value >>= 4) text[i] = kDigits[value & 15];
  return text;
}

bool parse_hex(std::string_view text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return error == std::errc() && end == text.data() + text.size();
}

/// An abstract address; the length matters, for every byte of the name counts.
socklen_t address(std::uint64_t id, sockaddr_un& out) {
  const std::string name = "fast-" + hex(id);
  out = {};
  out.sun_family = AF_UNIX;
  std::ranges::copy(name, out.sun_path + 1);
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
}

bool same_user(int connection) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  return ::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 &&
         credentials.uid == ::geteuid();
}

void close_if(int& descriptor) {
  if (descriptor >= 0) ::close(descriptor);
  descriptor = -1;
}

}  // namespace

UnixMeeting::UnixMeeting(const Layout& layout, Rank rank, Segment& own, LogSink log)
    : layout_(layout), rank_(rank), own_(own), log_(std::move(log)) {
  sockaddr_un name{};
  const socklen_t size = address(own_.id(), name);
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  listener_ = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  pause_ = ::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  if (epoll_ < 0 || listener_ < 0 || pause_ < 0 ||
      ::bind(listener_, reinterpret_cast<const sockaddr*>(&name), size) != 0 ||
      ::listen(listener_, kBacklog) != 0 ||
      ::getrandom(&secret_, sizeof secret_, 0) != sizeof secret_) {
    const std::string why = std::generic_category().message(errno);
    close_if(listener_);
    close_if(pause_);
    close_if(epoll_);
    throw ConfigError("cannot listen on a Unix socket: " + why, "set share_memory to never");
  }
  watch(listener_);
  watch(pause_);
  token_ = hex(own_.id()) + hex(secret_);
}

UnixMeeting::~UnixMeeting() {
  for (auto& [rank, neighbour] : neighbours_) drop(neighbour);
  for (const int stranger : strangers_) ::close(stranger);
  ::close(listener_);
  ::close(pause_);
  ::close(epoll_);
}

void UnixMeeting::watch(int descriptor) {
  epoll_event event{};
  event.events = EPOLLIN;
  ::epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event);
}

void UnixMeeting::do_not_watch(int descriptor) {
  ::epoll_ctl(epoll_, EPOLL_CTL_DEL, descriptor, nullptr);
}

void UnixMeeting::drop(Neighbour& neighbour) {
  close_if(neighbour.dialled);
  close_if(neighbour.early);
  neighbour.segment.reset();
}

void UnixMeeting::no_luck(Rank rank, const std::string& why) {
  log_(LogLevel::kInfo, "neighbour " + std::to_string(rank) +
                            ": no shared memory, exchanging over the network (" + why + ")");
}

void UnixMeeting::meet(Rank rank, const std::string& token) {
  Neighbour& neighbour = neighbours_[rank];
  if (neighbour.token == token) return;
  close_if(neighbour.dialled);
  neighbour.segment.reset();
  neighbour.dial_again = false;
  neighbour.token = token;
  if (token.size() != 32 || !parse_hex(std::string_view(token).substr(0, 16), neighbour.id) ||
      !parse_hex(std::string_view(token).substr(16), neighbour.secret)) {
    return no_luck(rank, "its Hello names no segment of ours");
  }
  if (rank_ > rank) return dial(rank, neighbour);
  if (neighbour.early < 0) return;
  if (neighbour.early_id == neighbour.id) take(rank, neighbour, neighbour.early);
  close_if(neighbour.early);
}

void UnixMeeting::forget(Rank rank) {
  const auto it = neighbours_.find(rank);
  if (it == neighbours_.end()) return;
  // `early` stays: it may belong to the life whose Hello makes us forget the life before.
  Neighbour& neighbour = it->second;
  close_if(neighbour.dialled);
  neighbour.segment.reset();
  neighbour.dial_again = false;
  neighbour.token.clear();
  neighbour.id = neighbour.secret = 0;
}

Segment* UnixMeeting::find(Rank rank) {
  const auto it = neighbours_.find(rank);
  if (it == neighbours_.end() || !it->second.segment) return nullptr;
  return &*it->second.segment;
}

void UnixMeeting::dial(Rank rank, Neighbour& neighbour) {
  sockaddr_un name{};
  const socklen_t size = address(neighbour.id, name);
  neighbour.dialled = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (neighbour.dialled < 0) return no_luck(rank, std::generic_category().message(errno));
  neighbour.dial_again = false;
  if (::connect(neighbour.dialled, reinterpret_cast<const sockaddr*>(&name), size) != 0) {
    if (errno == EAGAIN) {
      neighbour.dial_again = true;  // its backlog is full
      return close_if(neighbour.dialled);
    }
    const bool elsewhere = errno == ECONNREFUSED;
    no_luck(rank, elsewhere ? "it is on another host" : std::generic_category().message(errno));
    return close_if(neighbour.dialled);
  }
  if (!same_user(neighbour.dialled)) {
    no_luck(rank, "it belongs to another user");
    return close_if(neighbour.dialled);
  }
  const Packet packet{.secret = neighbour.secret, .id = own_.id(), .rank = rank_};
  if (!send_packet(neighbour.dialled, packet, own_.descriptor())) {
    no_luck(rank, std::generic_category().message(errno));
    return close_if(neighbour.dialled);
  }
  watch(neighbour.dialled);
}

void UnixMeeting::poll() {
  for (auto& [rank, neighbour] : neighbours_) {
    if (neighbour.dial_again) dial(rank, neighbour);
  }
  epoll_event event{};
  if (::epoll_wait(epoll_, &event, 1, 0) <= 0) return;
  if (pause_is_over()) accept_and_hear();
  // Iterates over a copy: hear_stranger() removes from the list.
  for (const int stranger : std::vector<int>(strangers_)) hear_stranger(stranger);
  for (auto& [rank, neighbour] : neighbours_) {
    if (neighbour.dialled >= 0) hear_answer(rank, neighbour);
  }
}

/// Reads from accepted connections before it accepts more, so that a crowd pushes out none that has
/// sent its packet.
void UnixMeeting::accept_and_hear() {
  int accepted = 0;
  for (int some = 1; some > 0 && accepted < kMostAtOnce; accepted += some) {
    some = accept();
    for (const int stranger : std::vector<int>(strangers_)) hear_stranger(stranger);
  }
  if (accepted >= kMostAtOnce) {
    begin_pause();
  } else {
    next_pause_ = kShortestPause;
  }
}

void UnixMeeting::begin_pause() {
  itimerspec time{};
  time.it_value.tv_nsec = next_pause_.count();
  if (::timerfd_settime(pause_, 0, &time, nullptr) != 0) return;
  next_pause_ = std::min(2 * next_pause_, kLongestPause);
  pausing_ = true;
  do_not_watch(listener_);
}

bool UnixMeeting::pause_is_over() {
  std::uint64_t times = 0;
  if (!pausing_ || ::read(pause_, &times, sizeof times) <= 0) return !pausing_;
  pausing_ = false;
  watch(listener_);
  return true;
}

int UnixMeeting::accept() {
  for (int i = 0; i < static_cast<int>(kMaxStrangers); ++i) {
    const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (connection < 0) {
      if (errno != EMFILE && errno != ENFILE && errno != ENOMEM && errno != ENOBUFS) return i;
      // It would stay readable and keep the loop awake.
      do_not_watch(listener_);
      log_(LogLevel::kWarning,
           "out of descriptors: no more neighbours can share memory; raise ulimit -n");
      return i;
    }
    if (!same_user(connection)) {
      ::close(connection);
      continue;
    }
    if (strangers_.size() == kMaxStrangers) {
      ::close(strangers_.front());  // which was read, and has sent nothing
      strangers_.erase(strangers_.begin());
    }
    strangers_.push_back(connection);
    watch(connection);
  }
  return static_cast<int>(kMaxStrangers);
}

/// Reads from a connection that dialled us, and closes it after its first message, whatever that
/// was.
void UnixMeeting::hear_stranger(int connection) {
  const Heard heard = receive_packet(connection);
  if (!heard.anything) return;
  int descriptor = heard.descriptor;
  const Packet packet = heard.packet.value_or(Packet{});
  const auto rank = static_cast<Rank>(packet.rank);
  if (heard.packet && packet.secret == secret_ && rank == packet.rank && rank > rank_) {
    Neighbour& neighbour = neighbours_[rank];
    (void)send_packet(connection, {.secret = secret_, .id = own_.id(), .rank = rank_},
                      own_.descriptor());
    if (neighbour.token.empty() || neighbour.id != packet.id) {
      close_if(neighbour.early);
      neighbour.early = std::exchange(descriptor, -1);
      neighbour.early_id = packet.id;
    } else {
      take(rank, neighbour, descriptor);
    }
  }
  close_if(descriptor);
  ::close(connection);
  std::erase(strangers_, connection);
}

void UnixMeeting::hear_answer(Rank rank, Neighbour& neighbour) {
  const Heard heard = receive_packet(neighbour.dialled);
  if (!heard.anything) return;
  if (heard.packet && heard.packet->secret == neighbour.secret && heard.packet->rank == rank) {
    take(rank, neighbour, heard.descriptor);
  } else {
    no_luck(rank, "it gave no segment");
  }
  int descriptor = heard.descriptor;
  close_if(descriptor);
  close_if(neighbour.dialled);
}

void UnixMeeting::take(Rank rank, Neighbour& neighbour, int descriptor) {
  Result<Segment> mapped = Segment::map(descriptor, layout_, rank, neighbour.id);
  if (!mapped) return no_luck(rank, mapped.error().text);
  neighbour.segment.emplace(std::move(*mapped));
  log_(LogLevel::kInfo, "neighbour " + std::to_string(rank) + ": exchanging in shared memory");
}

}  // namespace stencil
