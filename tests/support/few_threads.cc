// Preloaded into a program under test: no more than FAST_TEST_THREADS threads can be started.
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*work)(void*), void* argument) noexcept {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  static std::atomic<int> left = std::atoi(std::getenv("FAST_TEST_THREADS"));
  return left.fetch_sub(1) > 0 ? create(thread, attributes, work, argument) : EAGAIN;
}
