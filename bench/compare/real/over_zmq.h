#pragma once

#include <filesystem>
#include <string>
#include <zmq.hpp>

#include "adapters/torch/models/torch_learner.h"

namespace fast::compare {

// The common parts of strategies that send gradients over ZeroMQ.

/// The address that another process of the run writes to `file` once it can be reached. Throws
/// DeadlineError, naming `who`, after `deadline` seconds.
[[nodiscard]] std::string await_address(const std::filesystem::path& file, const std::string& who,
                                        double deadline);

/// The gradients of the last backward pass: floats, parameter after parameter.
[[nodiscard]] zmq::message_t gradient_of(TorchLearner& learner);

[[nodiscard]] int milliseconds(double seconds);

}  // namespace fast::compare
