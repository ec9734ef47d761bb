#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fast::compare {

/// A time during which a worker does nothing.
struct Absence {
  enum class Kind {
    kFrozen,  ///< it stands still, as by SIGSTOP
    kDead,    ///< it is killed, and comes back with the model of its last step
  };
  Kind kind = Kind::kFrozen;
  int rank = 0;
  double from = 0, to = 0;  ///< seconds
};

/// The circumstances under which a job is trained. Value type.
struct Condition {
  std::string name = "uniform";
  std::string topology = "torus:2x2";
  std::string partition = "iid";
  std::map<int, double> slow;  ///< rank -> factor by which its steps are stretched
  double jitter = 0;           ///< each step takes up to this share longer, at random
  std::vector<Absence> away;   ///< in virtual time
  double link_mbit = 0;        ///< what each worker can send, Mbit/s; 0: the machine's own network
};

/// An invalid member of a condition.
struct Flaw {
  std::string_view key;  ///< the member's name
  std::string what, remedy;
};
/// The first flaw, if any. The caller adds the place in the file.
[[nodiscard]] std::optional<Flaw> flaw_of(const Condition& condition);

/// "RANK:FROM:TO"; nothing where it is something else.
[[nodiscard]] std::optional<Absence> parse_absence(Absence::Kind kind, std::string_view text);

}  // namespace fast::compare
