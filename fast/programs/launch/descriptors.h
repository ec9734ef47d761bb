#pragma once

#include <cstddef>

namespace fast {

/// Raises this process's limit of open files as far as allowed, for children too. Returns the
/// limit.
std::size_t raise_descriptor_limit();

/// Throws ResourceError, naming the number needed, where a worker with so many neighbours needs
/// more open files than `limit`.
void check_worker_descriptors(std::size_t neighbours, std::size_t limit);

/// Throws ResourceError, naming the number needed, where a launcher of `workers` workers, with
/// `each` open files for one of them, needs more than `limit`.
void check_descriptor_limit(int workers, std::size_t limit, std::size_t each = 1);

}  // namespace fast
