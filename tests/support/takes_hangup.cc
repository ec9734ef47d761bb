// Preloaded into a program under test: a library that takes SIGHUP as it is loaded, as UCX does.
#include <signal.h>
#include <unistd.h>

namespace {

void on_hangup(int /*signal*/) {
  _exit(1);
}
[[gnu::constructor]] void take_hangup() {
  signal(SIGHUP, on_hangup);
}

}  // namespace
