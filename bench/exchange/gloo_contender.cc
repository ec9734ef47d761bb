#include <torch/types.h>

#include "bench/exchange/contender.h"
#include "bench/exchange/meeting.h"
#include "bench/exchange/stopwatch.h"
#include "bench/support/gloo_group.h"

namespace fast::exchange_bench {
namespace {

/// The all-reduce under torch.nn.parallel.DistributedDataParallel, with the whole model at once.
class Gloo final : public Contender {
 public:
  explicit Gloo(const Site& site) : site_(site) {}

  Measured measure() override {
    const int workers = site_.topology.size();
    const auto group = bench::make_gloo_group(site_.meeting / "gloo", "127.0.0.1", site_.rank,
                                              workers, std::chrono::milliseconds(kPatience));
    std::vector<torch::Tensor> model = {
        torch::full({static_cast<std::int64_t>(site_.floats)}, 1.0F)};
    const Measured out =
        measure_rounds(site_.rounds, [&] { (void)group->allreduce(model)->wait(); });
    await_all(site_.meeting, "measured", site_.rank, workers);
    return out;
  }

 private:
  Site site_;
};

}  // namespace

std::unique_ptr<Contender> make_gloo(const Site& site) {
  return std::make_unique<Gloo>(site);
}

}  // namespace fast::exchange_bench
