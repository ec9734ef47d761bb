#include "adapters/programs/hangup.h"

#include <signal.h>

namespace fast {
namespace {

// Set before any library's constructor runs, and so before main() could pass it on.
bool ignored_at_start = false;

void note_hangup(int /*count*/, char** /*arguments*/, char** /*environment*/) {
  struct sigaction now {};
  ignored_at_start = sigaction(SIGHUP, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}
// A program's alone, so this file is none of a library's.
[[gnu::section(".preinit_array"),
  gnu::used]] void (*const before_constructors)(int, char**, char**) = note_hangup;

}  // namespace

void keep_ignored_hangup() {
  if (!ignored_at_start) return;
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGHUP, &ignore, nullptr);
}

}  // namespace fast
