#include "stencil/transport/by_scheme.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "stencil/core/error.h"
#include "stencil/core/text.h"

namespace stencil {
namespace {

class TransportByScheme final : public Transport {
 public:
  TransportByScheme(std::span<const TransportKind> kinds, const TransportOptions& options)
      : kinds_(kinds), options_(options), parts_(kinds.size()) {
    if (options.listen.empty()) return;
    options_.listen = with_scheme(options.listen, options.usual_scheme);
    listener_ = kind_for("listen on", options_.listen);
    (void)part(listener_);
  }

  [[nodiscard]] std::string endpoint() const override {
    return options_.listen.empty() ? std::string() : parts_[listener_]->endpoint();
  }

  LinkId dial(const PeerAddress& address) override {
    const PeerAddress whole(with_scheme(address.endpoint, options_.usual_scheme), address.key);
    const std::size_t kind = kind_for("dial", whole.endpoint);
    return outer(kind, part(kind).dial(whole));
  }

  void drop(LinkId link) override {
    if (Transport* const transport = transport_of(link)) transport->drop(inner(link));
  }

  [[nodiscard]] SendStatus send(LinkId link, Frame&& frame) override {
    Transport* const transport = transport_of(link);
    return transport == nullptr ? SendStatus::kDown
                                : transport->send(inner(link), std::move(frame));
  }

  /// The kinds take turns.
  [[nodiscard]] std::optional<Received> receive() override {
    for (std::size_t tried = 0; tried < parts_.size(); ++tried) {
      turn_ = (turn_ + 1) % parts_.size();
      if (!parts_[turn_]) continue;
      if (std::optional<Received> received = parts_[turn_]->receive()) {
        received->link = outer(turn_, received->link);
        return received;
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] TransportStats stats() const override {
    TransportStats sum;
    for (const auto& part : parts_) {
      if (part) sum += part->stats();
    }
    return sum;
  }

 private:
  [[nodiscard]] LinkId outer(std::size_t kind, LinkId link) const {
    return link * kinds_.size() + kind;
  }
  [[nodiscard]] LinkId inner(LinkId link) const { return link / kinds_.size(); }
  [[nodiscard]] Transport* transport_of(LinkId link) const {
    return parts_[link % kinds_.size()].get();
  }

  [[nodiscard]] std::size_t kind_for(std::string_view what, const std::string& endpoint) const {
    const TransportKind& kind = kind_of(kinds_, what, endpoint);
    return static_cast<std::size_t>(&kind - kinds_.data());
  }

  /// Made when it is first asked for: what nobody uses has neither threads nor descriptors.
  Transport& part(std::size_t kind) {
    if (parts_[kind]) return *parts_[kind];
    TransportOptions options = options_;
    if (options_.listen.empty() || kind != listener_) options.listen.clear();
    parts_[kind] = kinds_[kind].make(options);
    return *parts_[kind];
  }

  const std::span<const TransportKind> kinds_;
  TransportOptions options_;
  std::vector<std::unique_ptr<Transport>> parts_;  ///< by kind; null: not in use
  std::size_t listener_ = 0;                       ///< which of them listens, where one does
  std::size_t turn_ = 0;
};

}  // namespace

std::string with_scheme(const std::string& endpoint, const std::string& usual_scheme) {
  const bool bare = !endpoint.empty() && endpoint.find("://") == std::string::npos;
  return bare ? usual_scheme + endpoint : endpoint;
}

const TransportKind& kind_of(std::span<const TransportKind> kinds, std::string_view what,
                             const std::string& endpoint) {
  const auto kind = std::ranges::find_if(
      kinds, [&](const TransportKind& one) { return endpoint.starts_with(one.scheme); });
  if (kind != kinds.end()) return *kind;
  throw ConfigError("cannot " + std::string(what) + " " + in_quotes(endpoint) + ": unknown scheme",
                    "use one of " + transport_forms());
}

std::unique_ptr<Transport> make_transport_by_scheme(std::span<const TransportKind> kinds,
                                                    const TransportOptions& options) {
  return std::make_unique<TransportByScheme>(kinds, options);
}

}  // namespace stencil
