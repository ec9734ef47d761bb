#pragma once

#include <cstddef>
#include <span>

#include "fast/adapter.h"
#include "stencil/mix/following.h"

namespace fast::test {

/// Moves a model as an exchange does, so that momentum follows: value i becomes moved(value, i).
template <typename Moved>
void move_by_exchange(ModelAdapter& adapter, Moved moved) {
  const std::span<float> values = adapter.values();
  const auto change = [&](std::size_t begin, std::size_t n) {
    for (std::size_t i = begin; i < begin + n; ++i) values[i] = moved(values[i], i);
  };
  stencil::change_followed(&adapter.followers(), values, 0, values.size(), change);
}

}  // namespace fast::test
