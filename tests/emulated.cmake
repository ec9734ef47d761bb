# What qemu, by which the programs of cross builds run, cannot show: as in plain.cmake, with reasons.
set(fast_plain
  # set_robust_list is ENOSYS there: a lock whose holder is killed stays locked.
  "Segment.lock_of_a_holder_that_stands_still_.*"
  "Share.of_a_bucket_in_whose_middle_a_neighbour_was_killed_.*")
include(${CMAKE_CURRENT_LIST_DIR}/is_plain.cmake)
