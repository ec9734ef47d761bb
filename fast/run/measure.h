#pragma once

#include <optional>
#include <string>

namespace fast {

/// A figure of a model on the test set, beside accuracy and loss.
struct Measure {
  std::string name{};  ///< "perplexity", for people; empty: there is none
  std::optional<double> value{};
};

}  // namespace fast
