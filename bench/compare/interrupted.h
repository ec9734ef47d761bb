#pragma once

#include <stdexcept>

namespace fast::compare {

/// The user wants to stop. Finished cells are kept; the same command continues with the rest.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted; start it again to go on") {}
};

}  // namespace fast::compare
