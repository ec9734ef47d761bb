#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fast/exit_codes.h"
#include "stencil/core/element_type.h"
#include "tests/support/plain_model.h"

namespace fast::testing {

/// What a training loop calls, in this order.
enum class Call { kOpen, kJoin, kExchange, kFinish };

/// A model and its session, through one of the surfaces that users embed. Methods that can fail
/// return a code, and error() then says why.
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

  PlainModel model;  ///< what the framework has; begins as 0, 221 numbers
};

/// A surface over memory of some types: those of PlainModel's parameters.
struct EmbeddingCase {
  std::string name;
  std::vector<stencil::ElementType> types;
  std::function<std::unique_ptr<EmbeddedWorker>(const std::vector<stencil::ElementType>& types)>
      make;
};

/// What every surface must hold to, in whatever language it is: embedding_contract.cc.
class EmbeddingContract : public ::testing::TestWithParam<EmbeddingCase> {};

/// A surface with each type, and with all of them at once.
[[nodiscard]] std::vector<EmbeddingCase> every_type(
    const std::function<std::unique_ptr<EmbeddedWorker>(const std::vector<stencil::ElementType>&)>&
        make);

inline std::string case_name(const ::testing::TestParamInfo<EmbeddingCase>& info) {
  return info.param.name;
}

}  // namespace fast::testing
