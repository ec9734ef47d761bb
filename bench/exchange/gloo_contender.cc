#include <torch/types.h>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "bench/exchange/contender.h"
#include "bench/exchange/meeting.h"
#include "bench/exchange/stopwatch.h"

namespace fast::exchange_bench {
namespace {

/// The all-reduce under torch.nn.parallel.DistributedDataParallel, with the whole model at once.
class Gloo final : public Contender {
 public:
  explicit Gloo(const Site& site) : site_(site) {}

  Measured measure() override {
    const int workers = site_.topology.size();
    const auto deadline = std::chrono::milliseconds(kPatience);
    const auto store =
        c10::make_intrusive<c10d::FileStore>((site_.meeting / "gloo").string(), workers);
    store->setTimeout(deadline);
    const auto options = c10d::ProcessGroupGloo::Options::create(deadline);
    options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1"));
    c10d::ProcessGroupGloo group(store, site_.rank, workers, options);
    std::vector<torch::Tensor> model = {
        torch::full({static_cast<std::int64_t>(site_.floats)}, 1.0F)};
    const Measured out =
        measure_rounds(site_.rounds, [&] { (void)group.allreduce(model)->wait(); });
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
