#include "fast/programs/launch/descriptors.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include "fast/errors.h"

namespace fast {
namespace {

/// The launcher's own descriptors: its files, its signals, and those that starting a worker needs
/// for a moment.
constexpr std::size_t kOwn = 24;

/// A worker's, and those of each of its links: measured (33 with one neighbour, 42 with four, 57
/// with seven, over ZeroMQ with shared memory), and a few more.
constexpr std::size_t kOwnOfWorker = 32, kOfNeighbour = 5;

void check(const std::string& who, std::size_t needed, std::size_t limit) {
  if (needed <= limit) return;
  throw stencil::ResourceError(
      fmt::format("{} {} open files, and no more than {} are allowed", who, needed, limit),
      fmt::format("run `ulimit -n {}` first, or have the limit raised", needed));
}

}  // namespace

std::size_t raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return SIZE_MAX;
  rlimit raised{.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
  if (limit.rlim_cur != raised.rlim_cur && setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  return limit.rlim_cur;
}

void check_descriptor_limit(int workers, std::size_t limit, std::size_t each) {
  check(fmt::format("{} workers take", workers), kOwn + each * static_cast<std::size_t>(workers),
        limit);
}

void check_worker_descriptors(std::size_t neighbours, std::size_t limit) {
  check(fmt::format("a worker with {} neighbours takes", neighbours),
        kOwnOfWorker + kOfNeighbour * neighbours, limit);
}

}  // namespace fast
