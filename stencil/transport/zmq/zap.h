#pragma once

#include <functional>
#include <string_view>
#include <zmq.hpp>

#include "stencil/core/keys.h"

namespace stencil {

/// Answers libzmq, which asks of each connection whether its other end may be here (ZAP, ZeroMQ RFC
/// 27): with keys in use, whoever has proven one that is somebody's; without, all. That it asks
/// turns away who speaks older versions of its protocol, as garbage may seem to. One to a context;
/// one thread.
class Zap {
 public:
  /// Before anything of the context listens.
  explicit Zap(zmq::context_t& context);

  /// Answers what has been asked. Without `ring` no keys are in use. `unknown` is told the keys
  /// that are nobody's.
  void serve(const KeyRing* ring, const std::function<void(const PublicKey&)>& unknown);
  [[nodiscard]] int descriptor() const { return questions_.get(zmq::sockopt::fd); }

  /// For the sockets' option; libzmq asks about those that have one.
  static constexpr std::string_view kDomain = "fast";

 private:
  zmq::socket_t questions_;
};

}  // namespace stencil
