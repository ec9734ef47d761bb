# Properties of the exchange, on the very pump that real workers run, under a virtual clock.
add_library(sim_cases STATIC ${CMAKE_CURRENT_SOURCE_DIR}/support/sim_cases.cc)
target_link_libraries(sim_cases PUBLIC stencil_sim GTest::gtest)
foreach(name consensus lock_step repeat bounded outage failure telemetry shared memory top_k linger phase_lock overlap straying)
  fast_test(sim_${name}_test SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/sim/${name}_test.cc
            LINK sim_cases LABELS sim TIMEOUT 300)
endforeach()
