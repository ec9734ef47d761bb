#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace fast::compare {

/// The mean model at one moment, evaluated on the held-out examples.
struct CurvePoint {
  double samples = 0;  ///< over all workers
  double seconds = 0;  ///< since training began
  double bytes = 0;    ///< sent, over all workers
  double accuracy = 0, loss = 0;
  double consensus = 0;  ///< rms over workers of |x_i - mean| / |mean|
};

/// The final mean model, evaluated on Job::unseen.
struct Unseen {
  std::size_t examples = 0;
  double accuracy = 0, loss = 0;
};

struct CellResult {
  bool diverged = false;             ///< a loss or a parameter became non-finite
  std::string failure;               ///< why it did not end well; empty where it did
  int lost = 0;                      ///< workers that died, where the others ended well
  std::vector<CurvePoint> curve;     ///< over the held-out examples
  std::optional<double> mean_model;  ///< accuracy at the end; see Cell::tuning
  std::optional<Unseen> unseen;
  std::vector<double> workers;  ///< of each worker's own model
  double consensus = 0;
  double samples = 0;           ///< trained by all workers
  double training_seconds = 0;  ///< of the cell's kind of time
  double bytes = 0;             ///< sent by all workers
  double model_bytes = 0;       ///< of the parameters that are exchanged
  double steps_per_second = 0;  ///< of the fastest worker
  double wall_seconds = 0;      ///< seconds that computing this result took, evaluation included
  std::string machine, version;
};

}  // namespace fast::compare
