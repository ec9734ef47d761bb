#pragma once

#include "fast/options/session_options.h"
#include "fast/session/model_values.h"
#include "stencil/mix/mixer.h"

namespace fast {

/// Folds into the model all that was agreed with neighbours, for when training is over or has not
/// begun, so that waiting for a lock costs nothing. Does not wait for a neighbour on this host that
/// was stopped while it held one; says in the log what is lacking then. Training thread. Throws
/// NonFiniteError.
void fold_patiently(stencil::Mixer& mixer, ModelValues& values, const LogSink& log);

}  // namespace fast
