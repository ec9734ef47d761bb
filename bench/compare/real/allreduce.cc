#include "bench/compare/real/allreduce.h"

#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/distributed/c10d/reducer.hpp>
#include <vector>

#include <chrono>
#include <cmath>

#include "adapters/torch/models/model.h"
#include "bench/compare/real/counted_exchange.h"
#include "bench/compare/real/tcp_bytes.h"
#include "bench/compare/real/wrapped_learner.h"
#include "bench/support/gloo_group.h"
#include "fast/session/exchange.h"

namespace fast::compare {
namespace {

// The sizes of torch.nn.parallel.DistributedDataParallel.
constexpr std::int64_t kFirstBucketBytes = 1 << 20;
constexpr std::int64_t kBucketBytes = 25 << 20;

c10::intrusive_ptr<c10d::ProcessGroup> meet(const Place& place) {
  const auto deadline = std::chrono::milliseconds(static_cast<std::int64_t>(place.deadline * 1e3));
  return bench::make_gloo_group(place.meeting / "gloo", place.host, place.rank, place.workers,
                                deadline);
}

/// `bucket_kib` 0: the default buckets of DistributedDataParallel.
std::unique_ptr<c10d::Reducer> make_reducer(const std::vector<torch::Tensor>& parameters,
                                            const c10::intrusive_ptr<c10d::ProcessGroup>& group,
                                            int bucket_kib) {
  const std::int64_t first = bucket_kib > 0 ? bucket_kib * 1024LL : kFirstBucketBytes;
  const std::int64_t others = bucket_kib > 0 ? first : kBucketBytes;
  const std::vector<bool> sparse(parameters.size(), false);
  auto [buckets, limits] = c10d::compute_bucket_assignment_by_size(
      parameters, {static_cast<std::size_t>(first), static_cast<std::size_t>(others)}, sparse);
  // The backward pass meets the last parameters first.
  std::ranges::reverse(buckets);
  std::ranges::reverse(limits);
  return std::make_unique<c10d::Reducer>(
      parameters, std::move(buckets), std::move(limits), group, sparse, others,
      /*find_unused_parameters=*/false, /*gradient_as_bucket_view=*/false,
      std::unordered_map<std::size_t, std::string>{}, first);
}

class AllReduceLearner final : public WrappedLearner {
 public:
  AllReduceLearner(const Place& place, std::unique_ptr<TorchLearner> inner, int bucket_kib)
      : WrappedLearner(std::move(inner)),
        place_(place),
        group_(meet(place)),
        reducer_(make_reducer(inner_->model().parameters(), group_, bucket_kib)) {
    // The reducer waits in a callback at the end of the backward pass. A callback queued earlier,
    // with the first gradient, is called earlier.
    inner_->model().parameters().back().register_hook([this](const torch::Tensor&) {
      torch::autograd::Engine::get_default_engine().queue_callback(
          [this] { computed_ = Clock::now(); });
    });
  }

  StepResult train_step(const Batch& batch) override {
    try {
      inner_->clear_gradients();
      const Clock::time_point begun = Clock::now();
      reducer_->rebuild_buckets();  // in the second step all workers agree on an order here
      reducer_->prepare_for_forward();
      reducer_->prepare_for_backward({});
      const Clock::time_point prepared = Clock::now();
      StepResult result = inner_->backward(batch);
      const Clock::duration waited = (prepared - begun) + (Clock::now() - computed_);
      result.waited = std::chrono::duration<double>(waited).count();
      if (std::isfinite(result.loss)) inner_->update();
      ++steps_;
      (void)connections_.count();  // other workers may close their connections when they are done
      return result;
    } catch (const std::exception& error) {
      std::string what = error.what();
      what.resize(std::min(what.find('\n'), what.size()));
      throw DeadlineError("the all-reduce of step " + std::to_string(steps_ + 1) +
                          " did not end (a worker is gone, or slower than " +
                          std::to_string(static_cast<int>(place_.deadline)) + " s): " + what);
    }
  }

  [[nodiscard]] std::uint64_t bytes_sent() { return connections_.count(); }

 private:
  using Clock = std::chrono::steady_clock;

  Place place_;
  Clock::time_point computed_;  ///< the last step's gradients
  c10::intrusive_ptr<c10d::ProcessGroup> group_;
  std::unique_ptr<c10d::Reducer> reducer_;  // its constructor has connected all workers
  TcpBytes connections_;
  std::uint64_t steps_ = 0;
};

}  // namespace

Participant make_allreduce(const Place& place, std::unique_ptr<TorchLearner> learner,
                           int bucket_kib) {
  auto made = std::make_unique<AllReduceLearner>(place, std::move(learner), bucket_kib);
  AllReduceLearner* const reducing = made.get();
  return {std::move(made), make_counted(place, [reducing] { return reducing->bytes_sent(); })};
}

}  // namespace fast::compare
