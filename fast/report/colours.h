#pragma once

namespace fast {

/// Escape sequences for colours on a terminal (ECMA-48); kReset ends all.
inline constexpr char kGreen[] = "\x1b[32m", kYellow[] = "\x1b[33m", kRed[] = "\x1b[31m",
                      kCyan[] = "\x1b[36m", kDim[] = "\x1b[2m", kBold[] = "\x1b[1m",
                      kReset[] = "\x1b[0m";

}  // namespace fast
