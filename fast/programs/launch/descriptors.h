#pragma once

#include <cstddef>

namespace fast {

/// Raises this process's limit of open files as far as it may, for children too. Returns it.
std::size_t raise_descriptor_limit();

/// Throws ResourceError, with the number, where a launcher of so many workers needs more.
void check_descriptor_limit(int workers, std::size_t limit);

}  // namespace fast
