#include "fast/programs/launch/descriptors.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include "fast/errors.h"

namespace fast {
namespace {

/// The launcher's own descriptors: its files, its signals, and those that starting a worker needs
/// for a moment.
constexpr std::size_t kOwn = 24;

}  // namespace

std::size_t raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return SIZE_MAX;
  rlimit raised{.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
  if (limit.rlim_cur != raised.rlim_cur && setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  return limit.rlim_cur;
}

void check_descriptor_limit(int workers, std::size_t limit, std::size_t each) {
  const std::size_t needed = kOwn + each * static_cast<std::size_t>(workers);
  if (needed <= limit) return;
  throw stencil::ResourceError(
      fmt::format("{} workers take {} open files, and no more than {} are allowed", workers, needed,
                  limit),
      fmt::format("run `ulimit -n {}` first, or have the limit raised", needed));
}

}  // namespace fast
