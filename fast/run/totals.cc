#include "fast/run/totals.h"

#include <algorithm>

namespace fast {

WorkerTotals totals_of(const WorkerHistory& history) {
  WorkerTotals totals;
  for (std::size_t life = 0; life < history.lives.size(); ++life) {
    const std::size_t begin = history.lives[life].first_progress;
    const std::size_t end = life + 1 < history.lives.size() ? history.lives[life + 1].first_progress
                                                            : history.progress.size();
    if (begin == end) continue;
    const WorkerProgress& last = history.progress[end - 1];
    totals.samples += last.samples;
    totals.exchange_seconds += last.exchange_seconds;
    totals.training_seconds += last.training_seconds;
    for (const NeighbourProgress& neighbour : last.neighbours) {
      WorkerTotals::Link& link = totals.links[neighbour.rank];
      link.sweeps += neighbour.sweeps;
      link.bytes += neighbour.bytes;
      if (neighbour.round_trip_ms > 0) link.round_trip_ms = neighbour.round_trip_ms;
      link.other_grid = neighbour.other_grid;
      totals.sweeps += neighbour.sweeps;
      totals.bytes += neighbour.bytes;
      totals.bytes_shared += neighbour.bytes_shared;
    }
  }
  for (const WorkerProgress& progress : history.progress) {
    totals.last_time = std::max(totals.last_time, progress.time);
    if (progress.state == "training") totals.trained_until = progress.time;
    if (progress.test_accuracy) totals.test_accuracy = progress.test_accuracy;
  }
  for (const WorkerHistory::Life& life : history.lives) {
    totals.last_time = std::max(totals.last_time, life.time);
  }
  for (const auto& event : history.events) {
    totals.last_time = std::max(totals.last_time, event.time);
  }
  if (history.end) totals.last_time = std::max(totals.last_time, history.end->time);
  return totals;
}

std::vector<EdgeTotals> edge_totals(const RunRecords& records) {
  std::map<std::pair<int, int>, EdgeTotals> edges;
  std::map<std::pair<int, int>, int> measured;
  for (const WorkerRecords& worker : records.workers) {
    for (const auto& [neighbour, link] : totals_of(worker.history).links) {
      const auto ends = std::minmax(worker.rank, neighbour);
      EdgeTotals& edge = edges[ends];
      edge.ranks = {ends.first, ends.second};
      edge.sweeps += link.sweeps;
      edge.bytes += link.bytes;
      edge.other_grid |= link.other_grid;
      if (link.round_trip_ms > 0) {
        edge.round_trip_ms += link.round_trip_ms;
        ++measured[ends];
      }
    }
  }
  std::vector<EdgeTotals> sorted;
  for (auto& [ends, edge] : edges) {
    if (const int count = measured[ends]; count > 0) edge.round_trip_ms /= count;
    sorted.push_back(edge);
  }
  return sorted;
}

}  // namespace fast
