#pragma once

#include <stdexcept>
#include <string>

#include "stencil/core/error.h"

namespace fast {

using stencil::ConfigError;

/// A model that cannot be exchanged, or that was changed in a way that the adapter cannot follow.
class AdapterError : public std::runtime_error {
 public:
  AdapterError(const std::string& cause, const std::string& remedy)
      : std::runtime_error(cause + "; " + remedy) {}
};

/// Methods were called in an invalid order.
class OrderError : public std::logic_error {
 public:
  OrderError(const std::string& cause, const std::string& remedy)
      : std::logic_error(cause + "; " + remedy) {}
};

/// A data set that is missing, truncated or wrong; names the file and what was expected.
class DataError : public std::runtime_error {
 public:
  DataError(const std::string& cause, const std::string& remedy)
      : std::runtime_error(cause + "; " + remedy) {}
};

/// A file of ours (run folder, model) that cannot be read or written.
class FileError : public std::runtime_error {
 public:
  FileError(const std::string& cause, const std::string& remedy)
      : std::runtime_error(cause + "; " + remedy) {}
};

}  // namespace fast
