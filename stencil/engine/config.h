#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "stencil/core/array_list.h"
#include "stencil/core/grid.h"
#include "stencil/core/message.h"
#include "stencil/core/mode.h"
#include "stencil/core/option_field.h"
#include "stencil/core/types.h"
#include "stencil/neighbour/neighbours.h"

namespace stencil {

/// What a worker's protocol takes from the grid as a whole. Value type.
struct GridFigures {
  std::uint64_t version = 0;  ///< of the grid that they follow from
  std::size_t turns = 0;      ///< of a step
  std::uint64_t hash = 0;     ///< see Grid::hash(); 0: not known
  std::uint32_t reach = 0;    ///< hops that join any two workers, see Topology::reach()
  /// Sweeps begun per step, in thousandths: 1000 is one a step, 250 one every four steps.
  std::uint32_t sweeps_per_mille = 1000;

  /// But for sweeps, which options may set.
  [[nodiscard]] static GridFigures of(const Grid& grid);
};

/// The parameters of one worker's protocol. Value type.
struct EngineConfig {
  Rank rank = 0;
  std::vector<Place> neighbours;  ///< at the start
  GridFigures grid;               ///< of now
  std::string topology;           ///< as it was given, for messages
  Mode mode;
  std::uint32_t buckets = 1;  ///< the telemetry's included
  std::uint32_t carried = 0;  ///< numbered after these: what a newcomer takes over beside them

  std::uint32_t window = 4;         ///< own requests in flight on one edge, in buckets
  std::uint32_t window_total = 16;  ///< on all edges together
  /// The most answers kept until they are applied, on all edges. At this number a worker answers
  /// "busy" and makes no offers. With window_total it bounds the exchanges in flight, in buckets.
  std::uint32_t retained_total = 64;
  /// The most held offers of one neighbour; further ones are answered out of turn.
  std::uint32_t most_held = 64;

  /// Neighbours are told of each boundary as soon as it is reached, but not more often than this.
  /// 0: they are not told, except in mode bounded, which tells them every boundary.
  Duration tell_every{};
  Duration heartbeat_every = std::chrono::milliseconds(500);
  Duration suspect_after = std::chrono::seconds(3);
  Duration gone_after = std::chrono::seconds(60);
  Duration hello_every = std::chrono::milliseconds(300);  ///< repeated until answered
  /// Where no reply comes for so long, the edge is synchronised anew.
  Duration reply_deadline = std::chrono::seconds(10);

  /// This worker's identity, which every Hello carries and which neighbours compare. The engine
  /// fills in last_answered and last_completed for each edge.
  Hello hello;
  Terms terms;       ///< those that Hello carries as hashes, which the engine fills in
  ArrayList arrays;  ///< of the model, for a neighbour whose model differs
  /// A worker whose progress (Hello::progress) is below this share of a neighbour's, and by at
  /// least behind_steps, adopts that neighbour's model instead of averaging with it. Not in mode
  /// sync.
  double behind_share = 0.5;
  double behind_steps = 100;
  /// The same holds for a worker that resumes and finds a neighbour ahead by so many steps: its
  /// saved model, averaged with the others, would take back what they have learnt since. Fewer
  /// are worth less than its optimizer's state, which goes with the model.
  double missed_steps = 10;
  /// No honest work can have come further: a neighbour that tells of more progress is not believed,
  /// and not asked for averages.
  double most_progress = 1e12;
  /// Before its first step the worker takes over the initial weights of the lowest Origin, instead
  /// of refusing neighbours of other weights.
  bool lowest_initial = false;
  bool trained = false;  ///< it goes on with a model that was trained before
  /// The other end of each link has proven its rank. Values of ours are told to nobody else.
  bool proven = false;
  OptionNaming naming = as_field;  ///< in messages
  std::uint64_t seed = 1;

  /// Places the worker at rank `at`: sets rank, neighbours and, but for sweeps, the figures.
  void stand(const Grid& where, Rank at);
  /// Whether a model of progress `ours` is far behind one of `theirs`.
  [[nodiscard]] bool far_behind(double ours, double theirs) const {
    return mode.kind != Mode::Kind::kSync && ours < behind_share * theirs &&
           ours + behind_steps <= theirs;
  }
  /// Whether a saved model of progress `ours` has missed what made one of `theirs`.
  [[nodiscard]] bool has_missed(double ours, double theirs) const {
    return mode.kind != Mode::Kind::kSync && trained && ours + missed_steps <= theirs;
  }
  /// The progress that a neighbour tells of, as far as it can be true.
  [[nodiscard]] double believed(double told) const { return told <= most_progress ? told : 0; }
  /// The worker's own weight in lock step.
  [[nodiscard]] double self_weight() const;
};

}  // namespace stencil
