#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fast/adapter.h"

namespace fast::testing {

/// A model without a framework: four parameters, "a" [3, 50], "b" [], "c" [0], "d" [70], each with
/// memory of its own and of the type given for it.
class PlainModel {
 public:
  explicit PlainModel(std::vector<stencil::ElementType> types);

  [[nodiscard]] std::vector<NamedTensor> parameters();
  /// All parameters in order. Reading is exact; writing rounds to the type.
  [[nodiscard]] std::vector<double> read() const;
  void write(std::span<const double> values);

 private:
  struct Parameter {
    std::string name;
    std::vector<std::int64_t> shape;
    std::size_t size;
    stencil::ElementType type;
    std::vector<std::byte> memory;
  };
  std::vector<Parameter> parameters_;
};

}  // namespace fast::testing
