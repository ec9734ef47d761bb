// Code that clang's thread-safety analysis has to refuse: see checks.cmake.
#include "stencil/threads/mutex.h"

class Count {
 public:
  void add() { ++count_; }

 private:
  stencil::Mutex mutex_;
  int count_ FAST_GUARDED_BY(mutex_) = 0;
};

void add(Count& count) {
  count.add();
}
