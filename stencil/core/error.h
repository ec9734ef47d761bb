#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

namespace stencil {

/// What a user got wrong at set-up. `what()` names the cause, the offending value and the remedy.
class ConfigError : public std::runtime_error {
 public:
  ConfigError(const std::string& cause, const std::string& remedy)
      : std::runtime_error(cause + "; " + remedy) {}
};

/// An address that cannot be listened on: in use, not of this machine, or not allowed.
class NetworkError : public ConfigError {
 public:
  using ConfigError::ConfigError;
};

/// The system is out of a resource, such as descriptors. The same call may succeed later.
class ResourceError : public ConfigError {
 public:
  using ConfigError::ConfigError;
};

/// A broken invariant: a defect in this program, never the fault of a peer.
class InvariantError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// What a peer did wrong, or what an operation could not do: a value, never thrown.
enum class Fault {
  kMalformed,    ///< bytes that are not a message of this protocol
  kChecksum,     ///< payload and checksum disagree
  kPayloadSize,  ///< payload of another length than its bucket and codec demand
  kNonFinite,    ///< a NaN or an infinity
  kOutOfRange,   ///< a bucket, rank or number outside its range
  kUnknownPeer,  ///< a rank that is no neighbour
};

struct Error {
  Fault fault;
  std::string text;  ///< for the log: what was seen and what was expected
};

/// Either a value or an Error. `value()` on an error is a broken invariant.
template <typename T>
class Result {
 public:
  Result(T value) : held_(std::move(value)) {}
  Result(Error error) : held_(std::move(error)) {}

  [[nodiscard]] bool ok() const { return std::holds_alternative<T>(held_); }
  explicit operator bool() const { return ok(); }

  T& value() {
    if (!ok()) throw InvariantError("Result::value() on an error: " + error().text);
    return std::get<T>(held_);
  }
  T& operator*() { return value(); }
  T* operator->() { return &value(); }
  [[nodiscard]] const Error& error() const { return std::get<Error>(held_); }

 private:
  std::variant<T, Error> held_;
};

}  // namespace stencil
