#pragma once

#include "stencil/core/option_checks.h"

namespace fast {

/// A visitor of a program's options: throws ConfigError, naming the flag, at the first value that
/// its field does not allow.
class FieldChecks {
 public:
  void group(const char*) {}
  template <typename T>
  void operator()(const stencil::OptionField<T>& field, const T& value) const {
    checks_(field, value);
  }

 private:
  stencil::OptionChecks checks_{stencil::as_flag};
};

}  // namespace fast
