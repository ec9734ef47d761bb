#include "stencil/mix/set_aside.h"

#include <sys/mman.h>

#include <new>

#include "stencil/mix/kernels.h"

namespace stencil {
namespace {

/// Zeros that the system gives memory for when they are written.
std::span<float> untouched(std::size_t floats) {
  if (floats == 0) return {};
  void* const memory = ::mmap(nullptr, floats * sizeof(float), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return {static_cast<float*>(memory), floats};
}

}  // namespace

SetAside::SetAside(const Layout& layout)
    : layout_(layout),
      floats_(untouched(layout.size())),
      any_(layout.bucket_count()),
      before_(std::min(layout.size(), layout.bucket_floats())),
      took_(layout.bucket_count()) {}

SetAside::~SetAside() {
  if (!floats_.empty()) ::munmap(floats_.data(), floats_.size_bytes());
}

void SetAside::add(std::uint32_t bucket, std::span<const float> p, float share) {
  const BucketRange range = layout_.bucket(bucket);
  any_[bucket] = 1;
  if (took_[bucket] == 0) bytes_ += range.size * sizeof(float);
  took_[bucket] = 1;
  kernels::add_moved(before_.data(), p.data(), share, &floats_[range.begin], range.size);
}

void SetAside::clear(std::uint32_t bucket) {
  if (any_[bucket] == 0) return;
  const BucketRange range = layout_.bucket(bucket);
  std::ranges::fill(floats_.subspan(range.begin, range.size), 0.0F);
  any_[bucket] = 0;
}

}  // namespace stencil
