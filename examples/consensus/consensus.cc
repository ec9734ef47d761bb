// The hello world of FAST: four workers on a 2x2 torus, each with its own number, agree on the
// mean. No framework and no server: each exchanges only with its two neighbours.
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "adapters/flat/flat_adapter.h"
#include "fast/session/session.h"

int main() {
  const auto network = fast::make_inproc_network();  // workers are threads here
  const auto work = [&network](int rank) {
    std::vector<float> x = {0};  // the whole model: one number, the same everywhere at the start
    fast::FlatAdapter adapter(x);
    fast::SessionOptions options{.topology = "torus:2x2", .rank = rank};
    options.listen = "inproc://worker-" + std::to_string(rank);
    options.peer_template = "inproc://worker-{rank}";
    options.exchange.settle_target = 1e-6;
    options.inproc = network;
    fast::Session session(adapter, options);
    session.join();

    x[0] = 10.0F * static_cast<float>(rank + 1);  // "training": each worker learns a different
                                                  // value
    session.exchange({});                         // show it to the neighbours
    session.finish();                             // keep averaging until all agree
    std::printf("worker %d began with %2d0 and ends with %.4f\n", rank, rank + 1, x[0]);
  };
  std::vector<std::jthread> workers;
  for (int rank = 0; rank < 4; ++rank) workers.emplace_back(work, rank);
}
