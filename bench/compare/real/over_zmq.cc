#include "bench/compare/real/over_zmq.h"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <thread>

#include "adapters/torch/models/model.h"
#include "fast/adapter.h"
#include "fast/session/exchange.h"

namespace fast::compare {

std::string await_address(const std::filesystem::path& file, const std::string& who,
                          double deadline) {
  const auto until =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds(deadline));
  while (std::chrono::steady_clock::now() < until) {
    std::ifstream in(file);
    if (std::string address; in >> address) return address;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  throw DeadlineError(fmt::format("{} did not come up in {:.0f} s", who, deadline));
}

zmq::message_t gradient_of(TorchLearner& learner) {
  zmq::message_t out(learner.adapter().values().size_bytes());
  auto* to = out.data<char>();
  for (const auto& parameter : learner.model().parameters()) {
    const auto gradient = parameter.grad().contiguous();
    std::memcpy(to, gradient.data_ptr<float>(), gradient.nbytes());
    to += gradient.nbytes();
  }
  return out;
}

int milliseconds(double seconds) {
  return static_cast<int>(seconds * 1000);
}

}  // namespace fast::compare
