#pragma once

#include "bench/compare/cell_result.h"
#include "bench/compare/virtual/recorder.h"

namespace fast::compare {

/// parameter-server, asynchronous, as MXNet's dist_async: a worker pushes each gradient; the server
/// applies it at once, whatever has happened since that worker's last pull, and answers with the
/// parameters. All workers share the server's link.
[[nodiscard]] CellResult run_server(const Cell& cell, const Split& split, Recorder& recorder);

}  // namespace fast::compare
