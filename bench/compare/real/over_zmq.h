#pragma once

#include <filesystem>
#include <string>
#include <zmq.hpp>

#include "adapters/torch/models/torch_learner.h"

namespace fast::compare {

// What strategies that send gradients over ZeroMQ have in common.

/// The address that another process of the run writes to `file` once it can be reached. Throws
/// DeadlineError that names `who` where it does not within `deadline` seconds.
[[nodiscard]] std::string await_address(const std::filesystem::path& file, const std::string& who,
                                        double deadline);

/// The gradients of the last backward pass: floats, parameter after parameter.
[[nodiscard]] zmq::message_t gradient_of(TorchLearner& learner);

[[nodiscard]] int milliseconds(double seconds);

}  // namespace fast::compare
