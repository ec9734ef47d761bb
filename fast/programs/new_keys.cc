#include "fast/programs/new_keys.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>
#include <vector>

#include "fast/errors.h"
#include "fast/options/key_files.h"

namespace fast {
namespace {

/// Creates new files, and removes them again unless keep() is called.
class NewFiles {
 public:
  NewFiles() = default;
  NewFiles(const NewFiles&) = delete;
  NewFiles& operator=(const NewFiles&) = delete;
  ~NewFiles() {
    for (const std::string& name : made_) ::unlink(name.c_str());
  }
  void keep() { made_.clear(); }

  void write(const std::string& name, std::string_view text, mode_t mode) {
    const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor < 0) fail(name, errno);
    made_.push_back(name);
    while (!text.empty()) {
      const ssize_t wrote = ::write(descriptor, text.data(), text.size());
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote < 0) break;
      text.remove_prefix(static_cast<std::size_t>(wrote));
    }
    const int error = text.empty() ? 0 : errno;
    const bool stored = ::fsync(descriptor) == 0 || errno == EINVAL;
    ::close(descriptor);
    if (error != 0 || !stored) fail(name, error != 0 ? error : EIO);
  }

 private:
  [[noreturn]] static void fail(const std::string& name, int error) {
    if (error == EEXIST) {
      throw FileError(fmt::format("{} is there already, and keys are not overwritten", name),
                      "name another folder with --out, or remove it");
    }
    throw FileError(
        fmt::format("cannot write {}: {}", name, std::generic_category().message(error)),
        "name a folder that can be written with --out");
  }

  std::vector<std::string> made_;
};

}  // namespace

void write_new_keys(const std::string& folder, int workers) {
  NewFiles files;
  std::vector<stencil::PublicKey> open;
  for (int rank = 0; rank < workers; ++rank) {
    const KeyPair pair = make_key_pair();
    open.push_back(pair.open);
    std::string text = key_file_text(pair, rank);
    files.write(KeyFiles::in_folder(folder, rank).key, text, 0600);
    stencil::wipe(text);
  }
  files.write(KeyFiles::in_folder(folder, 0).public_keys, public_keys_text(open), 0644);
  files.keep();
}

}  // namespace fast
