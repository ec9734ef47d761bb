#include "fast/data/loader.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "fast/errors.h"

namespace fast {
BatchBuffers::Array::Array(const ArraySpec& spec, std::size_t examples) : each(spec.values()) {
  if (spec.type == ValueType::kInt64) values = std::vector<std::int64_t>();
  std::visit([&](auto& all) { all.resize(examples * each); }, values);
}

ValuesOut BatchBuffers::Array::of(std::size_t first, std::size_t count) {
  return std::visit(
      [&](auto& all) -> ValuesOut { return std::span(all).subspan(first * each, count * each); },
      values);
}

BatchBuffers::BatchBuffers(const ExampleSpec& spec, std::size_t examples)
    : inputs_(spec.input, examples), targets_(spec.target, examples) {}

Batch BatchBuffers::batch(std::size_t count) {
  const auto read_only = [](const ValuesOut& values) {
    return std::visit([](auto all) -> Values { return std::span(std::as_const(all)); }, values);
  };
  return {count, read_only(inputs(0, count)), read_only(targets(0, count))};
}

bool BatchBuffers::finite(std::size_t first, std::size_t count) {
  const auto all_finite = [](const ValuesOut& values) {
    const auto* const numbers = std::get_if<std::span<float>>(&values);
    return numbers == nullptr ||
           std::ranges::all_of(*numbers, [](float value) { return std::isfinite(value); });
  };
  return all_finite(inputs(first, count)) && all_finite(targets(first, count));
}

TrainLoader::TrainLoader(const Dataset& data, std::vector<std::uint32_t> shard, std::size_t batch,
                         std::uint64_t seed)
    : examples_(data.train),
      shard_(std::move(shard)),
      batch_(batch),
      random_(seed),
      buffers_(data.spec, batch) {
  if (shard_.empty()) {
    throw DataError("a worker has no training examples",
                    "use fewer workers, more data or another partition");
  }
  if (batch_ == 0) throw ConfigError("a batch of 0 examples", "use a batch of at least 1");
  const std::uint32_t largest = *std::max_element(shard_.begin(), shard_.end());
  if (largest >= examples_->size()) {
    throw DataError("a shard names example " + std::to_string(largest) + " of " +
                        std::to_string(examples_->size()),
                    "partition this data set's own labels");
  }
  shuffle();
}

Batch TrainLoader::next() {
  return fill(true);
}

Batch TrainLoader::next_plain() {
  return fill(false);
}

Batch TrainLoader::fill(bool augment) {
  for (std::size_t i = 0, left_out = 0; i < batch_;) {
    if (position_ == shard_.size()) shuffle();
    const std::uint32_t example = shard_[position_++];
    examples_->write(example, 1, augment ? &random_ : nullptr, buffers_.inputs(i, 1),
                     buffers_.targets(i, 1));
    if (examples_->finite() || buffers_.finite(i, 1)) {
      ++i;
      left_out = 0;
    } else {
      leave_out(example, left_out++);
    }
  }
  // Those of the next pass are not known yet.
  examples_->expect(
      std::span(shard_).subspan(position_, std::min(batch_, shard_.size() - position_)));
  return buffers_.batch(batch_);
}

void TrainLoader::leave_out(std::uint32_t number, std::size_t in_a_row) {
  if (left_out_.count++ == 0) left_out_.first = number;
  if (in_a_row < 2 * shard_.size()) return;  // a whole pass is among so many
  throw DataError("each of a worker's " + std::to_string(shard_.size()) +
                      " training examples holds NaN or infinity",
                  "give it examples of finite numbers");
}

void TrainLoader::shuffle() {
  for (std::size_t i = shard_.size(); i > 1; --i) {
    std::swap(shard_[i - 1], shard_[random_.below(i)]);
  }
  position_ = 0;
}

bool TrainLoader::resume(const State& state) {
  const auto sorted = [](std::vector<std::uint32_t> order) {
    std::ranges::sort(order);
    return order;
  };
  if (state.position > shard_.size() || sorted(state.order) != sorted(shard_)) return false;
  shard_ = state.order;
  position_ = state.position;
  random_ = stencil::Random(state.random);
  return true;
}

TestLoader::TestLoader(const Dataset& data, std::shared_ptr<const ExampleSet> examples,
                       std::size_t batch, std::size_t most)
    : examples_(std::move(examples)),
      size_(most == 0 ? examples_->size() : std::min(most, examples_->size())),
      batch_(std::min(std::max<std::size_t>(batch, 1), size_)),
      buffers_(data.spec, batch_) {}

std::size_t TestLoader::example(std::size_t position) const {
  return static_cast<std::size_t>(std::uint64_t{position} * examples_->size() / size_);
}

void TestLoader::expect_next() {
  next_.clear();
  for (std::size_t i = position_; i < std::min(position_ + batch_, size_); ++i) {
    next_.push_back(static_cast<std::uint32_t>(example(i)));
  }
  examples_->expect(next_);
}

bool TestLoader::write(std::size_t position, std::size_t place) {
  const std::size_t example = this->example(position);
  examples_->write(example, 1, nullptr, buffers_.inputs(place, 1), buffers_.targets(place, 1));
  return examples_->finite() || buffers_.finite(place, 1);
}

bool TestLoader::next(Batch& out) {
  for (;;) {
    if (position_ == size_) {
      position_ = 0;
      return false;
    }
    const std::size_t count = std::min(batch_, size_ - position_);
    std::size_t good = count;
    if (size_ == examples_->size()) {
      examples_->write(position_, count, nullptr, buffers_.inputs(0, count),
                       buffers_.targets(0, count));
    }
    const bool one_by_one =
        size_ != examples_->size() || !(examples_->finite() || buffers_.finite(0, count));
    if (one_by_one) {
      good = 0;
      for (std::size_t i = 0; i < count; ++i) good += write(position_ + i, good) ? 1 : 0;
    }
    position_ += count;
    expect_next();
    if (good == 0) continue;
    out = buffers_.batch(good);
    return true;
  }
}

}  // namespace fast
