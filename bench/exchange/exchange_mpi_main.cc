// MPI's part of exchange_bench, started by it under mpirun.
#include <mpi.h>

#include <cstdio>
#include <exception>
#include <string_view>

#include "bench/exchange/member.h"
#include "bench/exchange/mpi_contender.h"

int main(int argc, char** argv) {
  using namespace fast::exchange_bench;
  if (argc != 6) {
    std::fprintf(stderr, "usage: exchange_mpi NAME TOPOLOGY FLOATS ROUNDS MEETING\n");
    return 2;
  }
  MPI_Init(&argc, &argv);
  try {
    Site site{.topology = stencil::Topology::parse(argv[2]),
              .floats = std::stoul(argv[3]),
              .meeting = argv[5],
              .rounds = std::stoi(argv[4])};
    MPI_Comm_rank(MPI_COMM_WORLD, &site.rank);
    const auto contender = std::string_view(argv[1]).starts_with("mpi-allreduce")
                               ? make_mpi_allreduce(site)
                               : make_mpi_neighbours(site);
    run_member(site, *contender);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "exchange_mpi: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
