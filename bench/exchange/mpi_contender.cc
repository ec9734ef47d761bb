#include "bench/exchange/mpi_contender.h"

#include <mpi.h>

#include "bench/exchange/stopwatch.h"

namespace fast::exchange_bench {
namespace {

class AllReduce final : public Contender {
 public:
  explicit AllReduce(const Site& site) : site_(site), model_(site.floats, 1.0F) {}
  Measured measure() override {
    return measure_rounds(site_.rounds, [this] {
      MPI_Allreduce(MPI_IN_PLACE, model_.data(), static_cast<int>(model_.size()), MPI_FLOAT,
                    MPI_SUM, MPI_COMM_WORLD);
    });
  }

 private:
  Site site_;
  std::vector<float> model_;
};

class Neighbours final : public Contender {
 public:
  explicit Neighbours(const Site& site)
      : site_(site),
        ranks_(site.topology.neighbours(site.rank).begin(),
               site.topology.neighbours(site.rank).end()),
        model_(site.floats, 1.0F),
        theirs_(site.floats * ranks_.size()) {
    const auto degree = static_cast<int>(ranks_.size());
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree, ranks_.data(), MPI_UNWEIGHTED, degree,
                                   ranks_.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph_);
  }
  ~Neighbours() override { MPI_Comm_free(&graph_); }
  Neighbours(const Neighbours&) = delete;
  Neighbours& operator=(const Neighbours&) = delete;

  Measured measure() override {
    return measure_rounds(site_.rounds, [this] {
      const auto count = static_cast<int>(model_.size());
      MPI_Neighbor_allgather(model_.data(), count, MPI_FLOAT, theirs_.data(), count, MPI_FLOAT,
                             graph_);
      average();
    });
  }

 private:
  void average() {
    const float weight = 1.0F / static_cast<float>(ranks_.size() + 1);
    float* const mine = model_.data();
    for (std::size_t i = 0; i < model_.size(); ++i) {
      float sum = mine[i];
      for (std::size_t j = 0; j < ranks_.size(); ++j) sum += theirs_[j * model_.size() + i];
      mine[i] = weight * sum;
    }
  }

  Site site_;
  std::vector<int> ranks_;
  std::vector<float> model_, theirs_;
  MPI_Comm graph_ = MPI_COMM_NULL;
};

}  // namespace

std::unique_ptr<Contender> make_mpi_allreduce(const Site& site) {
  return std::make_unique<AllReduce>(site);
}

std::unique_ptr<Contender> make_mpi_neighbours(const Site& site) {
  return std::make_unique<Neighbours>(site);
}

}  // namespace fast::exchange_bench
