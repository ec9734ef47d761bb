#include "bench/compare/real/neighbour_gradients.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "adapters/torch/models/model.h"
#include "bench/compare/real/counted_exchange.h"
#include "bench/compare/real/over_zmq.h"
#include "bench/compare/real/shared_count.h"
#include "bench/compare/real/wrapped_learner.h"
#include "fast/run/atomic_file.h"
#include "stencil/core/topology.h"

namespace fast::compare {
namespace {

/// Gradients that may wait for a neighbour, at either end.
constexpr int kMostWaiting = 16;

class GradientTrader final : public WrappedLearner {
 public:
  GradientTrader(const stencil::Topology& topology, const Place& place,
                 std::unique_ptr<TorchLearner> inner)
      : WrappedLearner(std::move(inner)),
        budget_(static_cast<double>(place.budget)),
        made_(place.meeting / "samples"),
        inbox_(context_, ZMQ_PULL) {
    const auto size = static_cast<std::int64_t>(inner_->adapter().values().size_bytes());
    inbox_.set(zmq::sockopt::rcvhwm, kMostWaiting);
    inbox_.set(zmq::sockopt::maxmsgsize, size);
    inbox_.bind("tcp://" + place.host + ":0");
    write_atomically(address_file(place, place.rank),
                     inbox_.get(zmq::sockopt::last_endpoint) + "\n");
    for (const stencil::Rank rank : topology.neighbours(place.rank)) {
      zmq::socket_t& outbox = outboxes_.emplace_back(context_, ZMQ_PUSH);
      outbox.set(zmq::sockopt::sndhwm, kMostWaiting);
      outbox.set(zmq::sockopt::linger, 0);
      outbox.connect(await_address(address_file(place, rank), fmt::format("neighbour {}", rank),
                                   place.deadline));
    }
  }

  StepResult train_step(const Batch& batch) override {
    inner_->clear_gradients();
    const StepResult result = inner_->backward(batch);
    if (!std::isfinite(result.loss)) return result;
    zmq::message_t own = gradient_of(*inner_);
    inner_->update();
    for (zmq::socket_t& outbox : outboxes_) send(own, outbox);
    zmq::message_t theirs;
    while (inbox_.recv(theirs, zmq::recv_flags::dontwait)) apply(theirs);
    made_.add(batch.labels.size());
    return result;
  }

  /// The progress of all workers together.
  [[nodiscard]] double progress() const { return static_cast<double>(made_.value()) / budget_; }
  [[nodiscard]] std::uint64_t bytes_sent() const { return bytes_; }

 private:
  static std::filesystem::path address_file(const Place& place, int rank) {
    return place.meeting / fmt::format("gradients-{}", rank);
  }

  void send(zmq::message_t& gradient, zmq::socket_t& outbox) {
    zmq::message_t shared;
    shared.copy(gradient);
    if (outbox.send(shared, zmq::send_flags::dontwait)) bytes_ += gradient.size();
  }

  void apply(const zmq::message_t& gradient) {
    if (gradient.size() != inner_->adapter().values().size_bytes()) return;
    const torch::NoGradGuard no_grad;
    std::size_t offset = 0;
    for (auto& parameter : inner_->model().parameters()) {
      auto own = parameter.grad();
      // Only read; from_blob takes no const data.
      auto* const from = const_cast<char*>(gradient.data<char>()) + offset;
      own.copy_(torch::from_blob(from, own.sizes()));
      offset += own.nbytes();
    }
    inner_->update();
  }

  double budget_;
  SharedCount made_;
  zmq::context_t context_;
  zmq::socket_t inbox_;
  std::vector<zmq::socket_t> outboxes_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

Participant make_neighbour_gradients(const Cell& cell, const Place& place,
                                     std::unique_ptr<TorchLearner> learner) {
  auto made = std::make_unique<GradientTrader>(stencil::Topology::parse(cell.condition.topology),
                                               place, std::move(learner));
  GradientTrader* const trader = made.get();
  return {std::move(made), make_counted(
                               place, [trader] { return trader->bytes_sent(); },
                               [trader] { return trader->progress(); })};
}

}  // namespace fast::compare
