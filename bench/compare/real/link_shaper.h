#pragma once

#include <string>
#include <vector>

namespace fast::compare {

/// A network namespace for each process of a run, joined by a bridge. tc's tbf limits the rates at
/// which each can send and receive: real links of a chosen rate on one machine. The destructor
/// removes them; leftovers of an earlier run with the same names are removed too.
class LinkShaper {
 public:
  /// `mbit` 0: no namespaces, everything on 127.0.0.1. Throws ConfigError where this is not Linux
  /// as root with ip and tc.
  LinkShaper(int processes, double mbit);
  ~LinkShaper();
  LinkShaper(const LinkShaper&) = delete;
  LinkShaper& operator=(const LinkShaper&) = delete;

  /// Throws where the constructor would throw.
  static void check(double mbit) { const LinkShaper probe(1, mbit); }
  [[nodiscard]] bool active() const { return active_; }
  /// The address of process `index`.
  [[nodiscard]] std::string host(int index) const;
  /// Arguments for kLauncher that run `program` as process `index`; empty where not active.
  [[nodiscard]] std::vector<std::string> launcher_arguments(int index,
                                                            const std::string& program) const;

  static constexpr char kLauncher[] = "/sbin/ip";

 private:
  [[nodiscard]] std::string name(int index) const;
  void take_down() const;

  int processes_;
  bool active_;
  std::string prefix_;  ///< of names; differs between running comparisons
  int subnet_;
};

}  // namespace fast::compare
