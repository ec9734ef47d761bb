#pragma once

#include <functional>
#include <string>
#include <thread>

namespace fast {

/// Starts a thread that runs this, or throws std::system_error.
using StartThread = std::function<std::thread(std::function<void()>)>;

[[nodiscard]] std::thread start_thread(std::function<void()> work);

/// Starts so many threads at once and ends them again. Throws ResourceError, naming `who` needs how
/// many and how many there can be, where the system gives fewer: LibTorch, for one, waits for ever
/// for those of a pool that it could not start. No limit tells the number: those of users and of
/// containers count what other processes have.
void check_threads(const std::string& who, int needed, const StartThread& start = start_thread);

}  // namespace fast
