#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/contract/transport/transport_contract.h"

namespace stencil::contract {

using MakeTransport = std::unique_ptr<Transport> (*)(const TransportOptions& options);

/// Transports over tcp, on the loopback interface.
class TcpWorld final : public TransportWorld {
 public:
  TcpWorld(std::string scheme, MakeTransport make) : scheme_(std::move(scheme)), make_(make) {}
  ~TcpWorld() override;
  /// A bound socket that never listens keeps the port from other programs, except those that, like
  /// the transport, set SO_REUSEADDR and name the port.
  std::string free_endpoint() override;
  std::string any_endpoint() override { return scheme_ + "127.0.0.1:0"; }
  std::unique_ptr<Transport> make(const TransportOptions& options) override {
    return make_(options);
  }

 private:
  std::string scheme_;
  MakeTransport make_;
  std::vector<int> reserved_;
};

/// Transports over local sockets, in a folder of their own.
class IpcWorld final : public TransportWorld {
 public:
  IpcWorld(std::string scheme, MakeTransport make);
  ~IpcWorld() override;
  std::string free_endpoint() override {
    return scheme_ + (folder_ / std::to_string(++count_)).string();
  }
  std::string any_endpoint() override { return free_endpoint(); }
  std::unique_ptr<Transport> make(const TransportOptions& options) override {
    return make_(options);
  }

 private:
  std::string scheme_;
  MakeTransport make_;
  std::filesystem::path folder_;
  int count_ = 0;
};

/// All transports of another world with keys: listeners have rank 0's, diallers rank 1's.
class KeyedWorld final : public TransportWorld {
 public:
  explicit KeyedWorld(std::unique_ptr<TransportWorld> inner) : inner_(std::move(inner)) {}
  std::string free_endpoint() override { return inner_->free_endpoint(); }
  std::string any_endpoint() override { return inner_->any_endpoint(); }
  std::unique_ptr<Transport> make(const TransportOptions& options) override {
    TransportOptions keyed = options;
    keyed.keys = test::Keys(test::ring(options.listen.empty() ? 11 : 10, {{10}, {11}})).source();
    return inner_->make(keyed);
  }
  PeerAddress address(const std::string& endpoint) override {
    return {endpoint, test::KeyPair(10).open};
  }

 private:
  std::unique_ptr<TransportWorld> inner_;
};

}  // namespace stencil::contract
