#include "tests/support/faults.h"

#include <poll.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace fast::testing {

namespace fs = std::filesystem;

bool eventually(const std::function<bool()>& condition, std::chrono::seconds deadline) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    poll(nullptr, 0, 20);
  }
  return true;
}

fs::path RunWatch::worker(int rank) const {
  return run_ / ("worker-" + std::to_string(rank));
}

WorkerHistory RunWatch::history(int rank) const {
  return parse_metrics(read_text(worker(rank) / "metrics.jsonl"));
}

bool RunWatch::trains(int rank) const {
  const WorkerHistory history = this->history(rank);
  if (history.progress.empty() || history.progress.back().step == 0) return false;
  const auto& neighbours = history.progress.back().neighbours;
  return std::any_of(neighbours.begin(), neighbours.end(),
                     [](const auto& n) { return n.link == "up"; });
}

bool RunWatch::all_train(int workers) const {
  for (int rank = 0; rank < workers; ++rank) {
    if (!trains(rank)) return false;
  }
  return true;
}

std::uint64_t RunWatch::step(int rank) const {
  const WorkerHistory history = this->history(rank);
  return history.progress.empty() ? 0 : history.progress.back().step;
}

bool RunWatch::all_go_on(Program& program, const std::vector<int>& ranks) const {
  std::map<int, std::uint64_t> before;
  for (const int rank : ranks) before[rank] = step(rank);
  return program.wait_until(
      [&] {
        return std::all_of(before.begin(), before.end(),
                           [&](const auto& had) { return step(had.first) >= had.second + 10; });
      },
      kPatience);
}

int RunWatch::events(int rank, const std::string& name, int neighbour) const {
  const std::string text = "neighbour " + std::to_string(neighbour) + " is " + name;
  const auto events = history(rank).events;
  return static_cast<int>(std::count_if(events.begin(), events.end(), [&](const auto& e) {
    return e.event == name && e.text.starts_with(text);
  }));
}

std::string RunWatch::log(int rank) const {
  return read_text(worker(rank) / "log.txt");
}

nlohmann::json RunWatch::summary() const {
  return nlohmann::json::parse(read_text(run_ / "summary.json"), nullptr, false);
}

std::string RunWatch::run_id() const {
  return history(0).start.run_id;
}

int RunWatch::port(int rank) const {
  const std::string endpoint = read_text(worker(rank) / "endpoint");
  const auto colon = endpoint.rfind(':');
  return colon == std::string::npos ? 0 : std::atoi(endpoint.c_str() + colon + 1);
}

std::map<int, pid_t> worker_pids(pid_t parent) {
  std::map<int, pid_t> out;
  for (const pid_t child : children_of(parent)) {
    std::istringstream command(read_text("/proc/" + std::to_string(child) + "/cmdline"));
    std::string argument;
    while (std::getline(command, argument, '\0')) {
      if (argument == "--rank" && std::getline(command, argument, '\0')) {
        out[std::stoi(argument)] = child;
      }
    }
  }
  return out;
}

std::vector<Connection> connections_of(pid_t pid) {
  constexpr int kEstablished = 1;
  const fs::path process = "/proc/" + std::to_string(pid);
  std::set<std::string> sockets;
  std::error_code error;
  for (fs::directory_iterator it(process / "fd", error), end; !error && it != end;
       it.increment(error)) {
    std::error_code gone;
    const std::string target = fs::read_symlink(it->path(), gone).string();
    if (target.starts_with("socket:[")) sockets.insert(target.substr(8, target.size() - 9));
  }
  std::vector<Connection> out;
  for (const char* const table : {"tcp", "tcp6"}) {
    std::istringstream lines(read_text(process / "net" / table));
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
      std::istringstream fields(line);
      std::string slot, local, remote, state, skipped, inode;
      fields >> slot >> local >> remote >> state;
      for (int i = 0; i < 5; ++i) fields >> skipped;
      fields >> inode;
      if (std::stoi(state, nullptr, 16) != kEstablished || !sockets.contains(inode)) continue;
      const auto port = [](const std::string& address) {
        return std::stoi(address.substr(address.rfind(':') + 1), nullptr, 16);
      };
      out.push_back({port(local), port(remote)});
    }
  }
  return out;
}

std::uint64_t resident_kib(pid_t pid) {
  std::istringstream status(read_text("/proc/" + std::to_string(pid) + "/status"));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stoull(line.substr(6));
  }
  return 0;
}

}  // namespace fast::testing
