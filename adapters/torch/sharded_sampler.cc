#include "adapters/torch/sharded_sampler.h"

#include <torch/serialize/archive.h>
#include <torch/types.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "fast/errors.h"
#include "stencil/core/random.h"

namespace fast {
namespace {

constexpr char kExamples[] = "data/examples";
constexpr char kSeed[] = "data/seed";
constexpr char kEpoch[] = "data/epoch";
constexpr char kPosition[] = "data/position";

}  // namespace

class ShardedSampler::Place final : public Resumable {
 public:
  Place(std::size_t examples, int rank, int workers, std::uint64_t seed, bool shuffle)
      : examples_(examples), seed_(seed), shuffle_(shuffle) {
    if (rank < 0 || rank >= workers || examples < static_cast<std::size_t>(workers)) {
      throw ConfigError(std::to_string(examples) + " examples for rank " + std::to_string(rank) +
                            " of " + std::to_string(workers) + " workers",
                        "give each rank from 0 an example at least");
    }
    const auto bound = [&](int part) { return examples * part / workers; };
    first_ = bound(rank);
    size_ = bound(rank + 1) - first_;
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t examples() const { return examples_; }
  [[nodiscard]] std::uint64_t epoch() const { return epoch_; }
  /// In this worker's part: examples that steps were made of, or, where no session tells, that were
  /// drawn.
  [[nodiscard]] std::uint64_t position() const {
    return told_ ? std::min(begin_ + made_, drawn_) : drawn_;
  }

  void begin() {
    epoch_ = next_epoch_;
    begin_ = drawn_ = next_position_;
    made_ = 0;
    next_epoch_ = epoch_ + 1;
    next_position_ = 0;
    order_.resize(examples_);
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    if (!shuffle_) return;
    stencil::Random random(stencil::Random::derive(seed_, epoch_));
    for (std::size_t i = examples_; i > 1; --i) std::swap(order_[i - 1], order_[random.below(i)]);
  }

  std::vector<std::size_t> draw(std::size_t batch) {
    if (order_.empty()) begin();
    const std::uint64_t end = std::min<std::uint64_t>(drawn_ + batch, size_);
    const auto part = order_.begin() + static_cast<std::ptrdiff_t>(first_);
    std::vector<std::size_t> indices(part + static_cast<std::ptrdiff_t>(drawn_),
                                     part + static_cast<std::ptrdiff_t>(end));
    drawn_ = end;
    return indices;
  }

  void go_on(std::uint64_t epoch, std::uint64_t position) {
    epoch_ = next_epoch_ = epoch;
    begin_ = drawn_ = next_position_ = std::min<std::uint64_t>(position, size_);
    made_ = 0;
    order_.clear();
  }

  void stepped(std::size_t samples) override {
    told_ = true;
    made_ += samples;
  }
  void save(StateWriter& to) override {
    to.put(kExamples, static_cast<std::uint64_t>(examples_));
    to.put(kSeed, seed_);
    to.put(kEpoch, epoch_);
    to.put(kPosition, position());
  }
  void load(const StateReader& from) override {
    if (from.value<std::uint64_t>(kExamples) != examples_ ||
        from.value<std::uint64_t>(kSeed) != seed_) {
      throw FileError(from.origin() + " was saved with other training examples",
                      "go on with the same data set and seed, or start over");
    }
    go_on(from.value<std::uint64_t>(kEpoch), from.value<std::uint64_t>(kPosition));
  }

 private:
  std::size_t examples_;
  std::uint64_t seed_;
  bool shuffle_;
  std::size_t first_ = 0, size_ = 0;  ///< this worker's part of order_
  std::vector<std::size_t> order_;    ///< of the epoch; empty: none has begun
  std::uint64_t next_epoch_ = 0, next_position_ = 0;
  std::uint64_t epoch_ = 0;
  std::uint64_t begin_ = 0, drawn_ = 0;  ///< positions in this worker's part
  std::uint64_t made_ = 0;               ///< examples of steps since `begin_`
  bool told_ = false;                    ///< by a session, of steps
};

ShardedSampler::ShardedSampler(std::size_t examples, int rank, int workers, std::uint64_t seed,
                               bool shuffle)
    : place_(std::make_shared<Place>(examples, rank, workers, seed, shuffle)) {}

ShardedSampler::~ShardedSampler() = default;

std::size_t ShardedSampler::size() const {
  return place_->size();
}
std::uint64_t ShardedSampler::epoch() const {
  return place_->epoch();
}
Resumable& ShardedSampler::place() {
  return *place_;
}

void ShardedSampler::reset(Optional<std::size_t> examples) {
  if (examples && *examples != place_->examples()) {
    throw ConfigError("a sampler of " + std::to_string(place_->examples()) +
                          " examples cannot become one of " + std::to_string(*examples),
                      "make another: all workers must share out the same number");
  }
  place_->begin();
}

ShardedSampler::Optional<std::vector<std::size_t>> ShardedSampler::next(std::size_t batch) {
  std::vector<std::size_t> indices = place_->draw(batch);
  if (indices.empty()) return {};
  return indices;
}

void ShardedSampler::save(torch::serialize::OutputArchive& to) const {
  const auto put = [&](const char* name, std::uint64_t value) {
    to.write(name, torch::tensor(static_cast<std::int64_t>(value), torch::kInt64), true);
  };
  put("epoch", place_->epoch());
  put("position", place_->position());
}

void ShardedSampler::load(torch::serialize::InputArchive& from) {
  const auto get = [&](const char* name) {
    torch::Tensor value;
    from.read(name, value, true);
    return static_cast<std::uint64_t>(value.item<std::int64_t>());
  };
  const std::uint64_t epoch = get("epoch");
  place_->go_on(epoch, get("position"));
}

}  // namespace fast
