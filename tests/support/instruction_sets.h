#pragma once

#include <hwy/targets.h>

/// Runs `visit` once for every instruction set that this processor has and our kernels are compiled
/// for, with exactly that one chosen, from the most basic on. Only one thread at a time: the choice
/// is global to the process.
namespace stencil::test {

template <typename Visit>
void for_each_instruction_set(Visit visit) {
  auto targets = hwy::SupportedAndGeneratedTargets();
  for (auto target = targets.rbegin(); target != targets.rend(); ++target) {
    hwy::SetSupportedTargetsForTest(*target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    visit(hwy::TargetName(*target));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace stencil::test
