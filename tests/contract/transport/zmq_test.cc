#include "stencil/transport/zmq/zmq_transport.h"
#include "tests/contract/transport/socket_worlds.h"
#include "tests/contract/transport/transport_contract.h"

namespace stencil::contract {
namespace {

/// All transports use keys: listeners have rank 0's, diallers rank 1's.
class KeyedWorld final : public TransportWorld {
 public:
  std::string free_endpoint() override { return inner_.free_endpoint(); }
  std::string any_endpoint() override { return inner_.any_endpoint(); }
  std::unique_ptr<Transport> make(const TransportOptions& options) override {
    TransportOptions keyed = options;
    keyed.keys = test::Keys(test::ring(options.listen.empty() ? 11 : 10, {{10}, {11}})).source();
    return inner_.make(keyed);
  }
  PeerAddress address(const std::string& endpoint) override {
    return {endpoint, test::KeyPair(10).open};
  }

 private:
  TcpWorld inner_{"zmq://", make_zmq_transport};
};

const TransportKind kTcp{"zmq",
                         [] { return std::make_unique<TcpWorld>("zmq://", make_zmq_transport); }};
const TransportKind kIpc{
    "ipc", [] { return std::make_unique<IpcWorld>("zmq+ipc://", make_zmq_transport); }};
const TransportKind kKeyed{"keyed", [] { return std::make_unique<KeyedWorld>(); }};

INSTANTIATE_TEST_SUITE_P(Zmq, TransportContract, ::testing::Values(kTcp, kIpc, kKeyed));
INSTANTIATE_TEST_SUITE_P(Zmq, KeyedTransportContract, ::testing::Values(kTcp, kIpc));

}  // namespace
}  // namespace stencil::contract
