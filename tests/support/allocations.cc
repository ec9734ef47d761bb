#include "tests/support/allocations.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

namespace test {

Allocations& allocations() {
  thread_local Allocations counted;
  return counted;
}

namespace {

std::atomic<std::uint64_t>& of_all_threads() {
  static std::atomic<std::uint64_t> counted{0};
  return counted;
}

void* counted(std::size_t size, std::size_t alignment) {
  ++of_all_threads();
  Allocations& own = allocations();
  ++own.count;
  own.largest = std::max(own.largest, size);
  const std::size_t whole =
      (std::max<std::size_t>(size, 1) + alignment - 1) / alignment * alignment;
  void* const memory = alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__
                           ? std::aligned_alloc(alignment, whole)
                           : std::malloc(whole);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

constexpr std::size_t kUsual = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

}  // namespace

std::uint64_t allocations_of_all_threads() {
  return of_all_threads();
}

}  // namespace test

[[gnu::noinline]] void* operator new(std::size_t size) {
  return test::counted(size, test::kUsual);
}
[[gnu::noinline]] void* operator new[](std::size_t size) {
  return test::counted(size, test::kUsual);
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  return test::counted(size, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void* operator new[](std::size_t size, std::align_val_t alignment) {
  return test::counted(size, static_cast<std::size_t>(alignment));
}
// The forms that return null are given back by the same delete: libzmq uses them.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return test::counted(size, test::kUsual);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
[[gnu::noinline]] void* operator new[](std::size_t size, const std::nothrow_t& none) noexcept {
  return ::operator new(size, none);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
