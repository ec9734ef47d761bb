#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "stencil/engine/self.h"

namespace stencil {

/// Initial weights on their way to a newcomer, of one neighbour: in pieces, which are buckets and
/// then chunks of what is carried. They are kept until all have come and have the hash that the
/// neighbour told of. One thread.
class StartCopy {
 public:
  explicit StartCopy(Self& self) : self_(self) {}

  /// Weights of this origin, in so many pieces, are asked for.
  void begin(const Origin& origin, std::uint32_t pieces);
  /// A piece has come. It is kept in memory of its own, so that a transport's pool need not hold a
  /// whole model. Telemetry is none of the weights.
  void keep(std::uint32_t piece, const Payload& payload);
  /// Hands on what has come, in order, to be hashed. `all`: every piece has come.
  void hash(Rank from, bool all, Actions& out);
  /// All pieces were handed on to be hashed.
  [[nodiscard]] bool hashed() const { return hashed_ > 0 && hashed_ == pieces_.size(); }
  /// Appends that all pieces are to be adopted, and holds none any more.
  void hand_over(Rank from, Actions& out);
  void drop() { pieces_ = {}; }

  [[nodiscard]] const Origin& origin() const { return origin_; }
  /// Bytes that have come.
  [[nodiscard]] std::size_t held() const;

  /// The neighbour's weights, all of which have come, have another hash than it told of. Counts and
  /// tells it, but not of a neighbour that has begun: it may have averaged before its first step.
  void note_untrue(const Neighbour& neighbour, Actions& out);
  /// Whether what the neighbour tells of now may still come from it: of each life it is asked for
  /// at most three times, and not again once it has begun.
  [[nodiscard]] bool may_come_from(const Neighbour& neighbour) const;

  /// See Engine::fields().
  template <typename A, typename T>
  static void fields(A& a, T& v) {
    a(v.origin_, v.pieces_, v.hashed_, v.untrue_);
  }

 private:
  struct Untrue {
    LifeId life;
    Origin told;
    int times = 0;
    template <typename A, typename T>
    static void fields(A& a, T& v) {
      a(v.life, v.told, v.times);
    }
  };

  Self& self_;
  Origin origin_;
  std::vector<Payload> pieces_;
  std::uint32_t hashed_ = 0;  ///< of these, from the first on, were handed on to be hashed
  std::map<Rank, Untrue> untrue_;
};

}  // namespace stencil
