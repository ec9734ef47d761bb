#pragma once

namespace fast {

/// Exit codes of fast and fast-worker; documented in README.md.
enum class ExitCode : int {
  kOk = 0,
  kFailure = 1,        ///< anything not named below
  kUsage = 2,          ///< command line, configuration, topology
  kData = 3,           ///< data set missing, truncated or wrong
  kFile = 4,           ///< run folder or model not readable or writable
  kNetwork = 5,        ///< address in use or not usable
  kRefused = 6,        ///< a neighbour refused us: terms differ, or our rank is taken
  kNonFinite = 7,      ///< loss or weights became NaN or infinite
  kWorkerLost = 8,     ///< a worker is not in the result: lost, cut off, or its model unusable
  kModel = 9,          ///< a model that cannot be exchanged
  kDeadline = 10,      ///< a wait passed its deadline (sync, bounded)
  kNoExchange = 11,    ///< trained alone: no exchange with any neighbour took place
  kNotLearnt = 12,     ///< trained to the end, but is no better than chance, or the loss exploded
  kInterrupted = 130,  ///< Ctrl-C or SIGTERM, after an orderly end
};

}  // namespace fast
