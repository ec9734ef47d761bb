#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>

#include "bench/wire/party.h"

namespace bench {

struct Measured {
  double seconds = 0;          ///< from the first start to the last end
  double cpu_seconds = 0;      ///< of both processes, all their threads
  std::uint64_t faults = 0;    ///< minor page faults of both
  std::uint64_t switches = 0;  ///< context switches of both
  Lateness lateness;           ///< at the end with the worse figures
};

/// Two processes, each with one end of a program; idle except during run().
class Pair {
 public:
  /// Throws std::runtime_error where the two do not connect.
  Pair(MakeParty make, const Traffic& traffic);
  ~Pair();
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  Measured run(std::uint64_t passes);

 private:
  struct Child {
    pid_t process = -1;
    int control = -1;
  };
  std::array<Child, 2> children_;
};

}  // namespace bench
