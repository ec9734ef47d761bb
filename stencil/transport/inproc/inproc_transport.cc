#include "stencil/transport/inproc/inproc_transport.h"

#include <algorithm>

#include "stencil/core/error.h"
#include "stencil/transport/inproc/inproc_network.h"

namespace stencil {
namespace {

class InprocTransport final : public Transport {
 public:
  explicit InprocTransport(const TransportOptions& options)
      : options_(options), network_(options.inproc->impl()) {
    node_.loop = options.loop;
    node_.bound = std::max<std::size_t>(options.queue_frames, 1);
    node_.max_frame_bytes = options.max_frame_bytes;
    node_.max_links = std::max<std::size_t>(options.max_links, 1);
    node_.keys = options.keys;
    network_.enter(node_, options.listen);
  }
  ~InprocTransport() override { network_.leave(node_); }

  [[nodiscard]] std::string endpoint() const override {
    return node_.name.empty() ? "" : "inproc://" + node_.name;
  }
  LinkId dial(const PeerAddress& address) override { return network_.dial(node_, address); }
  void drop(LinkId link) override { network_.drop(node_, link); }
  [[nodiscard]] SendStatus send(LinkId link, Frame&& frame) override {
    return network_.send(node_, link, frame);
  }
  [[nodiscard]] std::optional<Received> receive() override {
    for (const auto& [about, key] : network_.take_refused(node_)) complain(options_, about, key);
    return network_.receive(node_);
  }
  [[nodiscard]] TransportStats stats() const override { return network_.stats(node_); }

 private:
  TransportOptions options_;  ///< keeps the network alive
  InprocNetwork::Impl& network_;
  InprocNetwork::Impl::Node node_;
};

}  // namespace

std::unique_ptr<Transport> make_inproc_transport(const TransportOptions& options) {
  if (!options.inproc)
    throw ConfigError("an inproc:// address needs a network inside this process",
                      "set TransportOptions::inproc, shared by all who shall meet");
  return std::make_unique<InprocTransport>(options);
}

}  // namespace stencil
