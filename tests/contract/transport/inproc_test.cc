#include "stencil/core/error.h"
#include "stencil/transport/inproc/inproc_transport.h"
#include "tests/contract/transport/transport_contract.h"

namespace stencil::contract {
namespace {

class InprocWorld final : public TransportWorld {
 public:
  std::string free_endpoint() override { return "inproc://later"; }
  std::string any_endpoint() override { return "inproc://"; }
  std::unique_ptr<Transport> make(const TransportOptions& options) override {
    TransportOptions with_network = options;
    with_network.inproc = network_;
    return make_transport(with_network);
  }

 private:
  std::shared_ptr<InprocNetwork> network_ = std::make_shared<InprocNetwork>();
};

INSTANTIATE_TEST_SUITE_P(Inproc, TransportContract,
                         ::testing::Values(TransportKind{
                             "inproc", [] { return std::make_unique<InprocWorld>(); }}));

INSTANTIATE_TEST_SUITE_P(Inproc, KeyedTransportContract,
                         ::testing::Values(TransportKind{
                             "inproc", [] { return std::make_unique<InprocWorld>(); }}));

class InprocTransport : public TransportTest {};

TEST_F(InprocTransport, NeedsANetworkToBeAPartOf) {
  TransportOptions options;
  options.listen = "inproc://alone";
  EXPECT_THROW((void)make(options), ConfigError);
}

TEST_F(InprocTransport, TheSameNameInTwoNetworksIsTwoPlaces) {
  TransportOptions options;
  options.listen = "inproc://same";
  options.inproc = std::make_shared<InprocNetwork>();
  auto first = make(options);
  options.inproc = std::make_shared<InprocNetwork>();
  auto second = make(options);
  options.listen.clear();
  auto dialler = make(options);
  send_in_time(*dialler, dialler->dial("inproc://same"), numbered_frame(1, 1));
  EXPECT_TRUE(second->receive().has_value());
  EXPECT_FALSE(first->receive().has_value());
}

}  // namespace
}  // namespace stencil::contract
