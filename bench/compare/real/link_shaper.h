#pragma once

#include <string>
#include <vector>

namespace fast::compare {

/// A network namespace for each process of a run, joined by a bridge, with what each can send and
/// receive limited by tc's tbf: real links of a chosen rate on one machine. Taken down on
/// destruction, also what an earlier run that died has left of the same names.
class LinkShaper {
 public:
  /// `mbit` 0: no namespaces, everything on 127.0.0.1. Throws ConfigError where this is not Linux
  /// as root with ip and tc.
  LinkShaper(int processes, double mbit);
  ~LinkShaper();
  LinkShaper(const LinkShaper&) = delete;
  LinkShaper& operator=(const LinkShaper&) = delete;

  /// Throws as the constructor would, before there is anything to run.
  static void check(double mbit) { const LinkShaper probe(1, mbit); }
  [[nodiscard]] bool active() const { return active_; }
  /// Where process `index` is reached.
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
  std::string prefix_;  ///< of names: no two running comparisons share one
  int subnet_;
};

}  // namespace fast::compare
