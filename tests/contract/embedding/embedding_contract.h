#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fast/exit_codes.h"
#include "stencil/core/element_type.h"
#include "tests/support/plain_model.h"

namespace fast::testing {

/// The calls of a training loop, in this order.
enum class Call { kOpen, kJoin, kExchange, kFinish };

/// A model and its session, through one of the interfaces that users embed. Methods that can fail
/// return a code; error() then gives the cause.
class EmbeddedWorker {
 public:
  explicit EmbeddedWorker(const std::vector<stencil::ElementType>& types) : model(types) {}
  virtual ~EmbeddedWorker() = default;
  /// An option by its name on the command line; before kOpen.
  virtual ExitCode set(const std::string& key, const std::string& value) = 0;
  virtual ExitCode call(Call what) = 0;
  virtual ExitCode save(const std::string& path) = 0;
  virtual std::string endpoint() = 0;
  virtual std::string error() = 0;
  /// The framework's memory, 221 numbers, 0 at first: PlainModel's, or that of another framework.
  virtual std::vector<double> read() { return model.read(); }
  virtual void write(std::span<const double> values) { model.write(values); }

  PlainModel model;
};

/// An interface over PlainModel's parameters, or others of the same names and shapes, of the given
/// types.
struct EmbeddingCase {
  std::string name;
  std::vector<stencil::ElementType> types;
  std::function<std::unique_ptr<EmbeddedWorker>(const std::vector<stencil::ElementType>& types)>
      make;
};

/// The contract of every embedding interface, in any language: embedding_contract.cc.
class EmbeddingContract : public ::testing::TestWithParam<EmbeddingCase> {};

/// An interface with each type, and with all types at once.
[[nodiscard]] std::vector<EmbeddingCase> every_type(
    const std::function<std::unique_ptr<EmbeddedWorker>(const std::vector<stencil::ElementType>&)>&
        make);

inline std::string case_name(const ::testing::TestParamInfo<EmbeddingCase>& info) {
  return info.param.name;
}

}  // namespace fast::testing
