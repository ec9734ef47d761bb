#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "stencil/core/followers.h"
#include "stencil/core/random.h"
#include "stencil/core/types.h"

namespace stencil::sim {

/// What simulated workers train. Each worker has its own part of one objective, which is the mean
/// of all parts. The gradient may come from anywhere: an analytic function here, a deep-learning
/// framework elsewhere. Called by the simulation's only thread.
class Objective {
 public:
  virtual ~Objective() = default;
  [[nodiscard]] virtual std::size_t dimension() const = 0;
  /// Start values of every worker (equal, unless the objective studies consensus alone).
  virtual void initial(Rank rank, std::span<float> x) const = 0;
  /// One local step of `rank` on its own x.
  virtual void step(Rank rank, std::span<float> x) = 0;
  /// What follows the moves of x by exchanges, such as the momentum of `rank`; null: nothing does.
  /// It must outlive the simulation.
  virtual Followers* followers(Rank /*rank*/) { return nullptr; }
  /// The x of `rank` was replaced by a neighbour's, or the worker begins a new life.
  virtual void model_replaced(Rank /*rank*/) {}
  /// A last local change of x, when training is over and settling begins.
  virtual void last(Rank /*rank*/, std::span<float> /*x*/) {}
  /// The whole objective at x.
  [[nodiscard]] virtual double value(std::span<const float> x) const = 0;
};

/// |x - c_i|^2 / 2 per worker with centres c_i drawn around a common one, and gradient noise.
[[nodiscard]] std::unique_ptr<Objective> make_quadratic(int workers, std::size_t dimension,
                                                        double learning_rate, double noise,
                                                        std::uint64_t seed);

/// Logistic regression. Each worker has examples of its own, drawn from one ground truth.
[[nodiscard]] std::unique_ptr<Objective> make_logistic(int workers, std::size_t dimension,
                                                       double learning_rate, std::uint64_t seed);

/// No gradients: workers begin at random points and only have to agree. Value: 0.
[[nodiscard]] std::unique_ptr<Objective> make_agreement(std::size_t dimension, std::uint64_t seed);

/// "quadratic" | "logistic" | "agreement". Throws ConfigError that lists them.
[[nodiscard]] std::unique_ptr<Objective> make_objective(std::string_view name, int workers,
                                                        std::size_t dimension, double learning_rate,
                                                        double noise, std::uint64_t seed);

}  // namespace stencil::sim
