#include "stencil/transport/stream/endpoint.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>
#include <system_error>

namespace stencil {
namespace {

constexpr int kBacklog = 256;
constexpr int kHeaders = 60;            ///< of IPv6 and TCP, without options
constexpr int kLongestSegment = 32767;  ///< of which Linux takes a bound

std::string text_of(int error) {
  return std::generic_category().message(error);
}

LookedUp addresses(const Endpoint& endpoint, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  const bool all = endpoint.host == "*";
  if (all) hints.ai_flags |= AI_PASSIVE;
  addrinfo* found = nullptr;
  LookedUp result;
  const int error = ::getaddrinfo(all ? nullptr : endpoint.host.c_str(),
                                  std::to_string(endpoint.port).c_str(), &hints, &found);
  if (error != 0) {
    result.error = error == EAI_SYSTEM ? text_of(errno) : ::gai_strerror(error);
    return result;
  }
  for (const addrinfo* info = found; info != nullptr; info = info->ai_next) {
    Address address;
    std::memcpy(&address.storage, info->ai_addr, info->ai_addrlen);
    address.size = info->ai_addrlen;
    result.addresses.push_back(address);
  }
  ::freeaddrinfo(found);
  return result;
}

/// This host's name where it can be looked up here, else the loopback address.
std::string own_name() {
  std::array<char, 256> name{};
  addrinfo* found = nullptr;
  if (::gethostname(name.data(), name.size() - 1) != 0 ||
      ::getaddrinfo(name.data(), nullptr, nullptr, &found) != 0) {
    return "127.0.0.1";
  }
  ::freeaddrinfo(found);
  return name.data();
}

struct HostAndPort {
  std::string host, port;
};
HostAndPort numbers_of(const Address& address) {
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (::getnameinfo(address.get(), address.size, host.data(), host.size(), port.data(), port.size(),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    throw InvariantError("an address without numbers");
  }
  return {host.data(), port.data()};
}

std::string joined(std::string_view scheme, const HostAndPort& place) {
  const bool v6 = place.host.find(':') != std::string::npos;
  return std::string(scheme) + (v6 ? "[" + place.host + "]" : place.host) + ":" + place.port;
}

std::string endpoint_of(int socket, const Endpoint& asked, const Schemes& schemes) {
  if (asked.local) return asked.text;
  Address bound;
  bound.size = sizeof bound.storage;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&bound.storage), &bound.size) != 0) {
    throw InvariantError("a bound socket without an address");
  }
  HostAndPort place = numbers_of(bound);
  if (place.host == "0.0.0.0" || place.host == "::") place.host = own_name();
  return joined(schemes.tcp, place);
}

[[noreturn]] void cannot_listen(const Endpoint& endpoint, int error) {
  const std::string cannot = "cannot listen on '" + endpoint.text + "': ";
  switch (error) {
    case EADDRINUSE:
      throw NetworkError(
          cannot + (endpoint.local ? "path" : "port") + " in use (" + text_of(error) + ")",
          endpoint.local ? "choose another path"
                         : "choose another port, or 0 for one handed out by the system");
    case EADDRNOTAVAIL:
    case ENODEV:
      throw NetworkError(cannot + "no such interface or address here (" + text_of(error) + ")",
                         "use an address of this machine, or *:PORT for all of them");
    case EACCES:
      throw NetworkError(cannot + text_of(error),
                         "choose a port from 1024 on, or a path that is writable");
    default:
      throw NetworkError(cannot + text_of(error), "use HOST:PORT, with PORT 0 to 65535");
  }
}

/// Of a listener that has died without removing it.
bool is_abandoned(const Address& path) {
  const Descriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return ::connect(probe.get(), path.get(), path.size) != 0 && errno == ECONNREFUSED;
}

int bind_and_listen(int socket, const Address& address) {
  if (::bind(socket, address.get(), address.size) != 0) return errno;
  return ::listen(socket, kBacklog) == 0 ? 0 : errno;
}

Descriptor listening_socket(const Endpoint& endpoint, int packet_bytes) {
  std::vector<Address> found = literal_addresses(endpoint);
  if (found.empty()) found = look_up(endpoint).addresses;
  if (found.empty()) cannot_listen(endpoint, EADDRNOTAVAIL);
  // Of all interfaces: those of both families by one socket, where the system has both.
  const auto v6 = [](const Address& one) { return one.storage.ss_family == AF_INET6; };
  if (endpoint.host == "*") std::stable_partition(found.begin(), found.end(), v6);
  int made = -1;
  for (std::size_t i = 0; i < found.size() && made < 0; ++i) {
    std::swap(found.front(), found[i]);
    made = ::socket(found.front().storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  }
  const Address& address = found.front();
  Descriptor socket(made);
  const int yes = 1, no = 0;
  if (!endpoint.local) ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (v6(address)) ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
  bound_packets(socket.get(), packet_bytes);
  int error = bind_and_listen(socket.get(), address);
  if (error == EADDRINUSE && endpoint.local && is_abandoned(address)) {
    ::unlink(endpoint.host.c_str());
    error = bind_and_listen(socket.get(), address);
  }
  if (error != 0) cannot_listen(endpoint, error);
  return socket;
}

}  // namespace

std::string text_of(const Address& address, std::string_view scheme) {
  return joined(scheme, numbers_of(address));
}

Endpoint parse_endpoint(const std::string& text, bool dialling, const Schemes& schemes) {
  const std::string cannot =
      std::string("cannot ") + (dialling ? "dial" : "listen on") + " '" + text + "': ";
  const std::string form = std::string(schemes.tcp) + "HOST:PORT";
  Endpoint endpoint;
  endpoint.text = text;
  if (text.starts_with(schemes.local) && text.size() > schemes.local.size()) {
    endpoint.local = true;
    endpoint.host = text.substr(schemes.local.size());
    if (endpoint.host.size() >= sizeof(sockaddr_un::sun_path))
      throw ConfigError(cannot + "a path of " + std::to_string(endpoint.host.size()) + " bytes",
                        "use one of at most " + std::to_string(sizeof(sockaddr_un::sun_path) - 1));
    return endpoint;
  }
  if (!text.starts_with(schemes.tcp))
    throw ConfigError(cannot + "unknown scheme",
                      "use " + form + " or " + std::string(schemes.local) + "PATH");
  const std::size_t colon = text.rfind(':');
  const std::string_view port = std::string_view(text).substr(colon + 1);
  const bool any = !dialling && port == "*";
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), endpoint.port);
  const bool number = error == std::errc() && end == port.data() + port.size();
  if (colon <= schemes.tcp.size() || !(any || (number && (endpoint.port > 0 || !dialling))))
    throw ConfigError(cannot + "no valid port",
                      "use " + form + ", with PORT 1 to 65535" +
                          (dialling ? "" : ", or 0 for one handed out by the system"));
  endpoint.host = text.substr(schemes.tcp.size(), colon - schemes.tcp.size());
  if (endpoint.host.starts_with('[') && endpoint.host.ends_with(']'))
    endpoint.host = endpoint.host.substr(1, endpoint.host.size() - 2);
  in6_addr six{};
  if (::inet_pton(AF_INET6, endpoint.host.c_str(), &six) == 1 && IN6_IS_ADDR_LINKLOCAL(&six))
    throw ConfigError(cannot + "a link-local address without its interface",
                      "write " + std::string(schemes.tcp) + "[" + endpoint.host + "%INTERFACE]:" +
                          std::string(port) + ", with an interface of this machine, as eth0");
  return endpoint;
}

std::vector<Address> literal_addresses(const Endpoint& endpoint) {
  if (!endpoint.local) return addresses(endpoint, AI_NUMERICHOST).addresses;
  Address address;
  sockaddr_un path{};
  path.sun_family = AF_UNIX;
  std::ranges::copy(endpoint.host, path.sun_path);
  std::memcpy(&address.storage, &path, sizeof path);
  address.size = sizeof path;
  return {address};
}

LookedUp look_up(const Endpoint& endpoint) {
  return addresses(endpoint, AI_ADDRCONFIG);
}

void bound_packets(int socket, int packet_bytes) {
  const int segment = packet_bytes - kHeaders;
  if (segment > kLongestSegment) return;
  // Announced when a connection is made; either end sends no longer ones (RFC 9293, 3.7.1).
  ::setsockopt(socket, IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof segment);
}

Listener::Listener(const std::string& endpoint, const Schemes& schemes, int packet_bytes)
    : asked_(parse_endpoint(endpoint, false, schemes)),
      socket_(listening_socket(asked_, packet_bytes)),
      dialable_(endpoint_of(socket_.get(), asked_, schemes)) {}

Listener::~Listener() {
  if (asked_.local) ::unlink(asked_.host.c_str());
}

}  // namespace stencil
