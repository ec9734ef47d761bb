#pragma once

#include <torch/data/samplers/base.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "fast/checkpoint/saved_state.h"

namespace fast {

/// The indices of this worker's examples, for LibTorch's data loader:
///
///     fast::ShardedSampler sampler(data.size().value(), options.rank, options.workers());
///     trainer.adapter().attach(sampler.place());
///     fast::Session session(trainer.adapter(), options);
///     auto loader = torch::data::make_data_loader(data, sampler, 32);
///
/// In each pass, or epoch, all workers share out one order of all examples, which follows from
/// `seed` and the number of the epoch: each example is one worker's, and in the next epoch perhaps
/// another's. Workers need not be in the same epoch. Parts are equal but for one example.
///
/// Its place, attached before the session is made, is in checkpoints: it counts the examples that
/// steps were made of, whatever the loader has read ahead. A resumed program's loader goes on
/// there, in the middle of the epoch.
///
/// Copies are one sampler: the loader's is the program's. One thread, the loader's owner.
class ShardedSampler final : public torch::data::samplers::Sampler<> {
  template <typename Other, typename T>
  struct Like;
  template <template <typename> typename Other, typename U, typename T>
  struct Like<Other<U>, T> {
    using Type = Other<T>;
  };

 public:
  /// That of LibTorch's samplers: its own, or in newer versions std::optional.
  template <typename T>
  using Optional = typename Like<decltype(std::declval<Sampler<>&>().next(0)), T>::Type;

  /// `rank` of `workers` is this worker. Without `shuffle` each worker has the same part of the
  /// data, in their order, in every epoch. Throws ConfigError where a worker has no example.
  ShardedSampler(std::size_t examples, int rank, int workers, std::uint64_t seed = 0,
                 bool shuffle = true);
  ~ShardedSampler() override;
  ShardedSampler(const ShardedSampler&) = default;
  ShardedSampler& operator=(const ShardedSampler&) = default;

  /// Examples of this worker in an epoch.
  [[nodiscard]] std::size_t size() const;
  /// The number of the epoch whose indices next() gives, from 0.
  [[nodiscard]] std::uint64_t epoch() const;
  /// What a session's checkpoints hold of it. Lives as long as this or a copy.
  [[nodiscard]] Resumable& place();

  /// Begins the next epoch, or goes on where a checkpoint was. Throws ConfigError for another
  /// number of examples.
  void reset(Optional<std::size_t> examples = {}) override;
  Optional<std::vector<std::size_t>> next(std::size_t batch) override;
  void save(torch::serialize::OutputArchive& to) const override;
  void load(torch::serialize::InputArchive& from) override;

 private:
  class Place;
  std::shared_ptr<Place> place_;
};

}  // namespace fast
