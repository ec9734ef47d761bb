#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "stencil/core/keys.h"
#include "stencil/core/types.h"
#include "stencil/transport/transport.h"

namespace stencil {

class EventLoop;
class InprocNetwork;

struct TransportOptions {
  /// Whose thread owns the transport: sockets and times are waited for there, and turns asked for.
  /// It outlives the transport. "inproc://" does without one where its owner knows by itself when
  /// to receive.
  EventLoop* loop = nullptr;
  /// "zmq://HOST:PORT" or, for bare sockets, "tcp://HOST:PORT", with port 0 or * for one handed out
  /// by the system; "zmq+ipc://PATH", "ipc://PATH"; "inproc://" or "inproc://NAME" (names are
  /// handed out for the former); "" to accept nobody and only dial.
  std::string listen{};
  /// What an address begins with that has no scheme: "HOST:PORT".
  std::string usual_scheme = "zmq://";
  /// Largest header and largest payload accepted, each; of the former never less than 4,096. Bytes
  /// that claim more end their connection unread.
  std::size_t max_frame_bytes = 1 << 20;
  std::size_t queue_frames = 64;              ///< bound of each link's send and receive queue
  Duration linger = std::chrono::seconds(1);  ///< how long the destructor may flush
  Duration reconnect_min = std::chrono::milliseconds(50);
  Duration reconnect_max = std::chrono::seconds(2);
  /// For the share of each pause before a link is dialled again that is waited, so that not all
  /// who have lost one worker dial it at the same time. Each worker has one of its own.
  std::uint64_t seed = 0;
  std::size_t max_links = 1024;  ///< inbound links remembered; the oldest idle goes first
  /// The number of payloads that may be half received at once on accepted connections; times
  /// max_frame_bytes it is the memory that strangers can take. Beyond it, the connection that has
  /// received nothing for longest is closed, beginning with those that have sent no whole frame.
  /// For "tcp://" and "ipc://" only; stencil/README.md says what holds over ZeroMQ.
  std::size_t max_partial_payloads = 256;
  /// The longest IP packet in which links carry what is sent, either way, where the interfaces'
  /// are longer. Over "zmq://" that end alone says so which is dialled.
  int packet_bytes = 65535;
  /// Where given, both ends of every link prove their keys, and whoever proves none of them is a
  /// stranger. Keys may be replaced at any time: one that is taken back proves nothing from then on
  /// (Received::proven), and after the own pair was replaced all links are made anew with the new
  /// one.
  KeySource keys{};
  /// Called in receive() where a stranger was refused: what it lacked, in a word or two, and the
  /// text for a log, where one line for each cause is enough.
  std::function<void(const std::string& cause, std::string_view text)> complain{};
  /// Called on the loop each time that the name of an address that is dialled is looked up and not
  /// found: the name, and the resolver's error. It is looked up again for as long as it is dialled.
  std::function<void(const std::string& name, const std::string& error)> unresolved{};
  /// For "inproc://": the process-wide network to be a part of, shared by those who shall meet.
  std::shared_ptr<InprocNetwork> inproc{};
};

/// Throws InvariantError where there is none.
[[nodiscard]] EventLoop& loop_of(const TransportOptions& options);

/// The addresses that a transport may listen on: "tcp://HOST:PORT, ipc://PATH, .."
[[nodiscard]] std::string transport_forms();

/// Throws ConfigError for an address that no make_transport() could dial, whatever its options and
/// the network: of an unknown scheme, without a port, link-local without its interface.
void check_address(const std::string& endpoint,
                   const std::string& usual_scheme = TransportOptions{}.usual_scheme);

/// Each address is listened on, or dialled, by the transport that its scheme names. Throws
/// ConfigError that names the endpoint and the cause (port in use, unknown scheme, no such
/// interface); dial() does for what it is given. The only place that knows the concrete transports.
[[nodiscard]] std::unique_ptr<Transport> make_transport(const TransportOptions& options);

}  // namespace stencil
