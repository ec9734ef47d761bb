#include <cstring>

#include "bench/exchange/contender.h"
#include "bench/exchange/stopwatch.h"

namespace fast::exchange_bench {
namespace {

/// A lower bound for every exchange: each process copies its model once.
class Memory final : public Contender {
 public:
  explicit Memory(const Site& site) : site_(site), from_(site.floats, 1.0F), to_(site.floats) {}
  Measured measure() override {
    return measure_rounds(site_.rounds, [this] {
      std::memcpy(to_.data(), from_.data(), to_.size() * sizeof(float));
      asm volatile("" : : "r"(to_.data()) : "memory");
    });
  }

 private:
  Site site_;
  std::vector<float> from_, to_;
};

}  // namespace

std::unique_ptr<Contender> make_memory(const Site& site) {
  return std::make_unique<Memory>(site);
}

}  // namespace fast::exchange_bench
