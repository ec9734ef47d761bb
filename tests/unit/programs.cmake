if(TARGET fast_flat)
  fast_test(worker_test SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/unit/worker_test.cc
    LINK fast fast_flat fast_cifar_files LABELS unit)
endif()
if(TARGET fast_programs)
  foreach(name options toml launcher launcher_rank launcher_child)
    fast_test(${name}_test SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/unit/${name}_test.cc
      LINK fast_programs LABELS unit)
  endforeach()
endif()
