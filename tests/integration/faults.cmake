if(TARGET fast_program)
  add_library(fast_test_faults STATIC ${CMAKE_CURRENT_SOURCE_DIR}/support/faults.cc)
  target_link_libraries(fast_test_faults PUBLIC fast_test_process fast_report
    nlohmann_json::nlohmann_json)
  target_compile_options(fast_test_faults PRIVATE -Wall -Wextra -Werror)
  # Runs of many processes with real time-outs: minutes each under a sanitizer, on code that the
  # other tests and the fuzzers try there. `slow` leaves them out.
  # All but `sockets` stretch their steps, so that two of them can share two cores.
  foreach(name faults sockets strangers refusals)
    set(one_core ONE_CORE)
    if(name STREQUAL "sockets")
      set(one_core)
    endif()
    fast_test(${name}_test SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/integration/${name}_test.cc
      LINK fast_test_faults fast_cifar_files stencil_core stencil_transport stencil_wire
      LABELS integration slow TIMEOUT 600 ${one_core})
    target_compile_definitions(${name}_test PRIVATE
      FAST_PROGRAM="$<TARGET_FILE:fast_program>" FAST_WORKER="$<TARGET_FILE:fast-worker>")
    add_dependencies(${name}_test fast_program fast-worker)
  endforeach()
endif()

foreach(name session session_cost sharing overlap)
  fast_test(${name}_test SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/integration/${name}_test.cc
    LINK fast_test_allocations fast fast_flat LABELS integration TIMEOUT 300 ONE_CORE)
endforeach()

if(TARGET fast_program AND FAST_WITH_TORCH)
  fast_test(cifar_test SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/integration/cifar_test.cc
    LINK fast_test_faults fast_cifar_files LABELS data TIMEOUT 1800)
  target_compile_definitions(cifar_test PRIVATE FAST_PROGRAM="$<TARGET_FILE:fast_program>")
  add_dependencies(cifar_test fast_program fast-worker)
endif()
