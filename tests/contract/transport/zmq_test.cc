#include <filesystem>

#include "stencil/transport/zmq/zmq_transport.h"
#include "tests/contract/transport/socket_worlds.h"
#include "tests/contract/transport/transport_contract.h"

namespace stencil::contract {
namespace {

INSTANTIATE_TEST_SUITE_P(Zmq, TransportContract,
                         ::testing::Values(TransportKind{"zmq",
                                                         [] {
                                                           return std::make_unique<TcpWorld>(
                                                               "zmq://", make_zmq_transport);
                                                         }},
                                           TransportKind{"ipc", [] {
                                                           return std::make_unique<IpcWorld>(
                                                               "zmq+ipc://", make_zmq_transport);
                                                         }}));

}  // namespace
}  // namespace stencil::contract
