#pragma once

namespace fast {

/// Ignores SIGHUP where the program was started so, as by nohup. Libraries may have taken the
/// signal since: UCX, which Debian 13's LibTorch loads, does in its constructor. Call it first in
/// main().
void keep_ignored_hangup();

}  // namespace fast
