#pragma once

#include <sys/types.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fast/options/key_pair.h"
#include "stencil/core/keys.h"

namespace fast {

/// The paths of a worker's keys.
struct KeyFiles {
  std::string key;          ///< the worker's own secret key
  std::string public_keys;  ///< the public keys of all workers

  /// The names that `fast keys` uses in its folder: DIR/rank-K.key and DIR/public.keys.
  [[nodiscard]] static KeyFiles in_folder(const std::string& folder, int rank);
};

// Both are texts of lines; an empty line and a line whose first character is '#' are comments.
//
//     key file:     "secret" KEY          once
//     public keys:  RANK KEY              a line for each rank, or several while its key is
//     replaced
//
// KEY is 40 characters of Z85, which hold no space and never begin with '#'. A comment may follow
// it.

/// Parsers of untrusted bytes (see tests/fuzz). `file` is the name in errors. Throw ConfigError
/// with file, line, value and remedy, but never with the value of a secret key.
[[nodiscard]] stencil::SecretKey parse_key_file(std::string_view text, const std::string& file);
[[nodiscard]] std::vector<std::vector<stencil::PublicKey>> parse_public_keys(
    std::string_view text, const std::string& file);
/// The texts that those parse. The first holds a secret: stencil::wipe() it.
[[nodiscard]] std::string key_file_text(const KeyPair& pair, int rank);
[[nodiscard]] std::string public_keys_text(std::span<const stencil::PublicKey> by_rank);

/// Whether a secret file of this mode and owner can be read by more users than it may be. Where
/// root owns the file its group may read it, since root alone has chosen that group (the same rule
/// as PostgreSQL's; Kubernetes mounts secrets in this way, whichever user the process runs as).
[[nodiscard]] bool open_to_others(mode_t mode, uid_t owner);

/// Reads both files. Throws ConfigError where one cannot be read or is wrong, where others may read
/// the secret key, where it is not the key of `rank`, and where one of `neighbours` has no key.
[[nodiscard]] std::shared_ptr<const stencil::KeyRing> read_keys(
    const KeyFiles& files, int rank, std::span<const stencil::Rank> neighbours);

}  // namespace fast
