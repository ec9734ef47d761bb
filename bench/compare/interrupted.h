#pragma once

#include <stdexcept>

namespace fast::compare {

/// The user wants to stop. What is finished is kept; the rest goes on another day.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted; start it again to go on") {}
};

}  // namespace fast::compare
