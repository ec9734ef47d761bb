#include "stencil/transport/zmq/zap.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stencil {
namespace {

/// The parts of a question: version, request, domain, address, routing id, mechanism, key.
constexpr std::size_t kRequest = 1, kMechanism = 5, kKey = 6;

/// The key that has been proven; nothing where none was.
std::optional<PublicKey> key_of(const std::vector<std::string>& question) {
  PublicKey key;
  if (question.size() <= kKey || question[kMechanism] != "CURVE" ||
      question[kKey].size() != key.bytes.size()) {
    return std::nullopt;
  }
  std::ranges::copy(question[kKey], key.bytes.begin());
  return key;
}

}  // namespace

Zap::Zap(zmq::context_t& context) : questions_(context, zmq::socket_type::rep) {
  questions_.set(zmq::sockopt::linger, 0);
  questions_.bind("inproc://zeromq.zap.01");
}

void Zap::serve(const KeyRing* ring, const std::function<void(const PublicKey&)>& unknown) {
  zmq::message_t part;
  while (questions_.recv(part, zmq::recv_flags::dontwait)) {
    std::vector<std::string> question{part.to_string()};
    while (part.more() && questions_.recv(part, zmq::recv_flags::dontwait)) {
      question.push_back(part.to_string());
    }
    const std::optional<PublicKey> key = key_of(question);
    const bool known = ring == nullptr ? !key : key && ring->rank_of(*key);
    if (key && !known) unknown(*key);
    const std::array<std::string, 6> answer = {"1.0",
                                               question.size() > kRequest ? question[kRequest] : "",
                                               known ? "200" : "400",
                                               known ? "OK" : "unknown key",
                                               known && key ? text(*key) : "",
                                               ""};
    for (std::size_t i = 0; i < answer.size(); ++i) {
      (void)questions_.send(zmq::buffer(answer[i]), i + 1 < answer.size() ? zmq::send_flags::sndmore
                                                                          : zmq::send_flags::none);
    }
  }
}

}  // namespace stencil
