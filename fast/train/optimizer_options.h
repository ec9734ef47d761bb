#pragma once

#include <string>

namespace fast {

struct OptimizerOptions {
  std::string name = "sgd";    ///< "sgd" (momentum, weight decay) | "adamw"
  double learning_rate = 0.1;  ///< before the schedule
  double momentum = 0.9;
  /// Momentum uses the gradient at the point to which it is about to move (Nesterov 1983, in the
  /// form of Sutskever et al. 2013 and of PyTorch); sgd only. It tolerates gradients that are a
  /// step old, as neighbours' steps make them: at a momentum of 0.9 it stays stable on five times
  /// the curvature that plain momentum tolerates.
  bool nesterov = true;
  double momentum_correction = 0.5;  ///< see fast/momentum.h; sgd only
  double weight_decay = 5e-4;
};

}  // namespace fast
