// Measurements of a simulation at one moment, with deltas in flight counted in.
#include <cmath>
#include <vector>

#include "stencil/mix/codecs/dense.h"
#include "stencil/mix/codecs/kinds.h"
#include "stencil/sim/simulated_worker.h"

namespace stencil::sim {
namespace {

/// What applying `answer`, which a neighbour keeps, will add to the bucket of our offer `open`.
/// `codec` may belong to any edge: its state decides what is sent and never what is applied.
std::vector<float> to_come(const KeptAnswer& answer, const OpenOffer& open, std::size_t floats,
                           EdgeCodec& codec) {
  DenseEdgeCodec in_fp32;
  const std::vector<float> y(floats);
  std::vector<float> change(floats);
  const BucketValues bucket{open.bucket, y, change};
  const CodedOffer ours{view(open.payload), open.codec == kExact};
  if (const Offer* const crossed = answer.message.as<Offer>()) {
    const CodedOffer theirs{view(crossed->payload), crossed->codec == kExact};
    (void)(ours.exact && theirs.exact ? in_fp32 : codec).merge(bucket, ours, theirs);
    return change;
  }
  const Reply& reply = *answer.message.as<Reply>();
  EdgeCodec& coding = ours.exact ? in_fp32 : codec;
  (void)coding.complete(bucket, ours.bytes, view(reply.payload), reply.divisor);
  return change;
}

}  // namespace

/// The z that each worker would have if every delta in flight had arrived: subtracts what a
/// neighbour has answered, and merges crossings that only the other end has seen.
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
  const auto codec = make_edge_codec(parse_codec(config_.exchange.codec), layout_,
                                     std::vector<float>(layout_.size()));
  for (const auto& worker : workers_) {
    for (const Neighbour& asker : worker->pump->engine().neighbours()) {
      const Neighbour* const side =
          workers_[asker.rank]->pump->engine().neighbours().find(worker->rank);
      if (side == nullptr) continue;
      for (const KeptAnswer& answer : asker.book.kept) {
        const OpenOffer* const open = side->book.find_open(answer.sequence);
        if (open == nullptr || !open->payload || !payload_of(answer.message)) continue;
        if (open->bucket >= layout_.bucket_count()) continue;
        const BucketRange range = layout_.bucket(open->bucket);
        const std::vector<float> change = to_come(answer, *open, range.size, *codec);
        for (std::size_t i = 0; i < range.size; ++i) z[asker.rank][range.begin + i] += change[i];
      }
    }
  }
}

std::vector<double> Simulation::z(Rank rank) const {
  std::vector<std::vector<double>> all;
  account(all);
  return all[rank];
}

std::vector<double> Simulation::mean() const {
  std::vector<std::vector<double>> all;
  account(all);
  std::vector<double> mean(layout_.size());
  for (const auto& z : all) {
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += z[i] / size();
  }
  return mean;
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
