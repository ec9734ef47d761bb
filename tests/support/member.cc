// A worker whose options come from the environment alone, as a user's own program under `fast run`.
// It pulls each of its numbers towards its rank.
#include <cstdio>
#include <exception>
#include <vector>

#include "adapters/flat/flat_adapter.h"
#include "fast/session/exit_code.h"
#include "fast/session/session.h"

int main() {
  try {
    std::vector<float> x(200'000, 0.5F);
    fast::FlatAdapter adapter(x);
    const fast::SessionOptions options = fast::SessionOptions::from_environment();
    fast::Session session(adapter, options);
    session.join();
    std::printf("begins at step %d\n", static_cast<int>(session.steps()));
    while (!session.done()) {
      for (float& one : x) one -= 0.1F * (one - static_cast<float>(options.rank));
      session.exchange({.samples = 1, .loss = 1});
      if (session.steps() == 20) std::printf("trains\n");
      std::fflush(stdout);
    }
    const bool agreed = session.finish() == fast::Agreement::kAgreed;
    std::printf("%s on %.2f\n", agreed ? "agreed" : "did not agree", x[0]);
    return agreed ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(fast::exit_code(error));
  }
}
