#include "bench/compare/real/snapshots.h"

#include <array>
#include <chrono>
#include <fstream>

#include "fast/adapter.h"
#include "fast/run/atomic_file.h"

namespace fast::compare {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::filesystem::path file(const std::filesystem::path& folder, int index) {
  return folder / ("snapshot-" + std::to_string(index));
}

}  // namespace

SnapshotExchange::SnapshotExchange(ModelAdapter& adapter, std::unique_ptr<Exchange> inner,
                                   std::filesystem::path folder)
    : adapter_(adapter), inner_(std::move(inner)), folder_(std::move(folder)) {
  make_writable_folder(folder_);
}

void SnapshotExchange::join() {
  inner_->join();
  joined_ = now();
}

void SnapshotExchange::exchange(const StepReport& report) {
  samples_ += report.samples;
  inner_->exchange(report);
  while (next_ < kCurvePoints && inner_->progress() >= mark(next_)) save(next_++);
}

/// The file: three doubles (seconds, samples, bytes) and the weights, in this machine's own order.
void SnapshotExchange::save(int index) {
  const std::array<double, 3> head = {now() - joined_, static_cast<double>(samples_),
                                      static_cast<double>(inner_->status().counter("bytes_sent"))};
  const auto values = adapter_.values();
  AtomicFile out(file(folder_, index));
  out.write(head.data(), sizeof head);
  out.write(values.data(), values.size_bytes());
  out.commit();
}

std::optional<Snapshot> read_snapshot(const std::filesystem::path& folder, int index,
                                      std::size_t parameters) {
  std::ifstream in(file(folder, index), std::ios::binary);
  std::array<double, 3> head{};
  Snapshot snapshot;
  snapshot.weights.resize(parameters);
  in.read(reinterpret_cast<char*>(head.data()), sizeof head);
  in.read(reinterpret_cast<char*>(snapshot.weights.data()),
          static_cast<std::streamsize>(parameters * sizeof(float)));
  if (!in) return std::nullopt;
  snapshot.seconds = head[0];
  snapshot.samples = head[1];
  snapshot.bytes = head[2];
  return snapshot;
}

}  // namespace fast::compare
