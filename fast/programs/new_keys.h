#pragma once

#include <string>

namespace fast {

/// Makes a pair of keys for each of the ranks 0 .. workers - 1: the files of KeyFiles::in_folder(),
/// in a folder that exists. Secret ones have mode 0600. Throws FileError where a file is there
/// already or cannot be written; then nothing is left behind.
void write_new_keys(const std::string& folder, int workers);

}  // namespace fast
