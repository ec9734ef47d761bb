#pragma once

#include <memory>

#include "bench/exchange/contender.h"

namespace fast::exchange_bench {

/// Requires MPI_Init. Sums the models of all workers (MPI_Allreduce), or gathers those of the
/// neighbours (MPI_Neighbor_allgather) and averages them with the own model.
[[nodiscard]] std::unique_ptr<Contender> make_mpi_allreduce(const Site& site);
[[nodiscard]] std::unique_ptr<Contender> make_mpi_neighbours(const Site& site);

}  // namespace fast::exchange_bench
