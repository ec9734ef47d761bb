// What is seen of a simulation at one moment, with what is still on its way counted in.
#include <cmath>
#include <vector>

#include "stencil/sim/simulated_worker.h"

namespace stencil::sim {
namespace {

/// What an offer shows of a bucket, by coordinate; NaN where it does not.
std::vector<double> shown_by(CodecKind kind, const Payload& offer, std::size_t floats) {
  if (kind != CodecKind::kTopK) {
    std::vector<float> values(floats);
    (void)make_codec(kind)->decode(view(offer), values);
    return {values.begin(), values.end()};
  }
  std::vector<double> values(floats, std::nan(""));
  const Part part = Part::read(view(offer), floats).value();
  part.for_each([&](std::size_t, std::uint32_t i, float value) { values[i] = value; });
  return values;
}

/// What settling `flight`, the answer to or the crossing of `open`, will add to the bucket that
/// `open` was offered from.
std::vector<double> to_come(const Pump::InFlight& flight, const Pump::Open& open,
                            std::size_t floats) {
  std::vector<double> change(floats);
  if (flight.crossed && (flight.codec == CodecKind::kInt4 || open.codec == CodecKind::kInt4)) {
    std::vector<float> apart(floats);
    (void)residue_delta::subtract({view(flight.payload), flight.codec == CodecKind::kFp32},
                                  {view(open.payload), open.codec == CodecKind::kFp32}, apart);
    for (std::size_t i = 0; i < floats; ++i) {
      if (!std::isnan(apart[i])) change[i] = 0.5 * apart[i];
    }
  } else if (flight.crossed) {
    const auto theirs = shown_by(flight.codec, flight.payload, floats);
    const auto ours = shown_by(open.codec, open.payload, floats);
    for (std::size_t i = 0; i < floats; ++i) {
      const double delta = 0.5 * (theirs[i] - ours[i]);
      if (!std::isnan(delta)) change[i] = delta;
    }
  } else if (flight.codec == CodecKind::kTopK) {
    const Part part = Part::read(view(open.payload), floats).value();
    part.for_each([&](std::size_t j, std::uint32_t i, float) {
      change[i] = -double{load_delta(view(flight.payload), j)};
    });
  } else {
    std::vector<float> delta(floats);
    (void)make_codec(flight.codec)->decode(view(flight.payload), delta);
    for (std::size_t i = 0; i < floats; ++i) change[i] = -static_cast<double>(delta[i]);
  }
  return change;
}

}  // namespace

/// z of each worker as it would be had every delta under way arrived: what a neighbour has answered
/// is subtracted, a crossing that only the other end has seen is merged.
void Simulation::account(std::vector<std::vector<double>>& z) const {
  std::vector<float> values(layout_.size());
  const bool sync = mode_.kind == Mode::Kind::kSync;
  for (const auto& worker : workers_) {
    if (sync) {
      values = worker->x;
    } else {
      worker->mixer->read_z(values);
    }
    z.emplace_back(values.begin(), values.end());
  }
  if (sync) return;
  for (const auto& worker : workers_) {
    for (const Rank to : config_.topology.neighbours(worker->rank)) {
      for (const Pump::InFlight& flight : worker->pump->unsettled_at(to)) {
        const Pump::Open open = workers_[to]->pump->open_offer(worker->rank, flight.sequence);
        if (!open.payload || flight.bucket >= layout_.bucket_count()) continue;
        const BucketRange range = layout_.bucket(flight.bucket);
        const std::vector<double> change = to_come(flight, open, range.size);
        for (std::size_t i = 0; i < range.size; ++i) z[to][range.begin + i] += change[i];
      }
    }
  }
}

Snapshot Simulation::snapshot() const {
  Snapshot s;
  s.time = std::chrono::duration<double>(now_.time_since_epoch()).count();
  const std::size_t n = layout_.size();
  std::vector<double> mean(n), mean_x(n);
  std::vector<std::vector<double>> z;
  account(z);
  for (Rank rank = 0; rank < size(); ++rank) {
    for (std::size_t i = 0; i < n; ++i) {
      mean[i] += z[rank][i] / size();
      mean_x[i] += workers_[rank]->x[i] / static_cast<double>(size());
    }
  }
  double norm2 = 0, spread2 = 0, drift2 = 0, initial2 = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (Rank rank = 0; rank < size(); ++rank) {
      s.disagreement += (z[rank][i] - mean[i]) * (z[rank][i] - mean[i]);
      const double off = workers_[rank]->x[i] - mean_x[i];
      spread2 += off * off;
    }
    norm2 += mean_x[i] * mean_x[i];
    drift2 += (mean[i] - initial_mean_[i]) * (mean[i] - initial_mean_[i]);
    initial2 += initial_mean_[i] * initial_mean_[i];
  }
  s.consensus_distance = norm2 > 0 ? std::sqrt(spread2 / size() / norm2) : 0;
  s.mean_drift = initial2 > 0 ? std::sqrt(drift2 / initial2) : 0;
  s.objective = objective_.value(std::vector<float>(mean_x.begin(), mean_x.end()));
  s.bytes = bytes_sent();
  for (const auto& worker : workers_) {
    const PumpStatus status = worker->pump->status();
    s.steps += worker->pump->engine().step();
    s.sweeps += status.engine.sweeps;
  }
  return s;
}

}  // namespace stencil::sim
