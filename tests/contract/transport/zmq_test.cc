#include "stencil/transport/zmq/zmq_transport.h"
#include "tests/contract/transport/socket_worlds.h"
#include "tests/contract/transport/transport_contract.h"

namespace stencil::contract {
namespace {

const TransportKind kTcp{"zmq",
                         [] { return std::make_unique<TcpWorld>("zmq://", make_zmq_transport); }};
const TransportKind kIpc{
    "ipc", [] { return std::make_unique<IpcWorld>("zmq+ipc://", make_zmq_transport); }};
const TransportKind kKeyed{
    "keyed", [] {
      return std::make_unique<KeyedWorld>(std::make_unique<TcpWorld>("zmq://", make_zmq_transport));
    }};

INSTANTIATE_TEST_SUITE_P(Zmq, TransportContract, ::testing::Values(kTcp, kIpc, kKeyed));
INSTANTIATE_TEST_SUITE_P(Zmq, KeyedTransportContract, ::testing::Values(kTcp, kIpc));

}  // namespace
}  // namespace stencil::contract
