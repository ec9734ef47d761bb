#pragma once

#include <memory>

#include "bench/exchange/contender.h"

namespace fast::exchange_bench {

/// Requires MPI_Init. Everybody's models summed (MPI_Allreduce), or the neighbours' gathered
/// (MPI_Neighbor_allgather) and averaged with one's own.
[[nodiscard]] std::unique_ptr<Contender> make_mpi_allreduce(const Site& site);
[[nodiscard]] std::unique_ptr<Contender> make_mpi_neighbours(const Site& site);

}  // namespace fast::exchange_bench
