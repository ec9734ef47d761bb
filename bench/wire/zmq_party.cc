#if defined(__x86_64__)
#include <xxh_x86dispatch.h>  // as in stencil/wire/wire.cc
#else
#include <xxhash.h>
#endif
#include <zmq.h>

#include <array>
#include <cstring>
#include <stdexcept>

#include "bench/wire/party.h"

namespace bench {
namespace {

constexpr std::size_t kHeader = 64;  ///< about as many bytes as the product's

class ZmqParty final : public Party {
 public:
  ZmqParty(const Traffic& traffic, const Meeting& meeting, bool checks)
      : traffic_(traffic),
        checks_(checks),
        ledger_(traffic),
        context_(zmq_ctx_new()),
        socket_(zmq_socket(context_, ZMQ_DEALER)) {
    const int none = 0;
    zmq_setsockopt(socket_, ZMQ_LINGER, &none, sizeof none);
    if (!meeting.first) {
      checked(zmq_connect(socket_, meeting.ask().c_str()));
      return;
    }
    checked(zmq_bind(socket_, "tcp://127.0.0.1:*"));
    std::array<char, 256> endpoint{};
    std::size_t size = endpoint.size();
    checked(zmq_getsockopt(socket_, ZMQ_LAST_ENDPOINT, endpoint.data(), &size));
    meeting.tell(endpoint.data());
  }
  ~ZmqParty() override {
    zmq_close(socket_);
    zmq_ctx_term(context_);
  }

  void run(std::uint64_t passes) override {
    ledger_.add_passes(passes);
    while (!ledger_.done()) {
      while (ledger_.may_offer()) send('o', ledger_.offer());
      zmq_pollitem_t item{socket_, 0, ZMQ_POLLIN, 0};
      if (zmq_poll(&item, 1, 30'000) <= 0) throw std::runtime_error("libzmq: nothing for 30 s");
      receive();
    }
  }

 private:
  static void checked(int result) {
    if (result < 0) throw std::runtime_error(std::string("libzmq: ") + zmq_strerror(zmq_errno()));
  }

  void send(char kind, std::uint64_t index) {
    std::array<char, kHeader> header{kind};
    const std::span<const std::byte> payload = traffic_.at(index);
    const std::uint64_t checksum = checks_ ? XXH3_64bits(payload.data(), payload.size()) : 0;
    std::memcpy(&header[1], &checksum, sizeof checksum);
    checked(zmq_send(socket_, header.data(), header.size(), ZMQ_SNDMORE));
    zmq_msg_t message;
    zmq_msg_init_data(&message, const_cast<std::byte*>(payload.data()), payload.size(), nullptr,
                      nullptr);
    checked(zmq_msg_send(&message, socket_, 0));
  }

  void receive() {
    zmq_msg_t message;
    zmq_msg_init(&message);
    while (zmq_msg_recv(&message, socket_, ZMQ_DONTWAIT) >= 0) {
      const auto* const header = static_cast<const char*>(zmq_msg_data(&message));
      const char kind = header[0];
      std::uint64_t checksum = 0;
      std::memcpy(&checksum, header + 1, sizeof checksum);
      checked(zmq_msg_recv(&message, socket_, 0));
      if (checks_ && XXH3_64bits(zmq_msg_data(&message), zmq_msg_size(&message)) != checksum)
        throw std::runtime_error("libzmq: a payload came in with another checksum");
      if (kind == 'o')
        send('a', ledger_.answer());
      else
        ledger_.complete();
      while (ledger_.may_offer()) send('o', ledger_.offer());
    }
    zmq_msg_close(&message);
  }

  Traffic traffic_;
  bool checks_;
  Ledger ledger_;
  void* context_;
  void* socket_;
};

}  // namespace

std::unique_ptr<Party> make_zmq_party(const Traffic& traffic, const Meeting& meeting) {
  return std::make_unique<ZmqParty>(traffic, meeting, false);
}
std::unique_ptr<Party> make_checked_zmq_party(const Traffic& traffic, const Meeting& meeting) {
  return std::make_unique<ZmqParty>(traffic, meeting, true);
}

}  // namespace bench
