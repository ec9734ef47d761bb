foreach(name settlement link_book linger phase_lock made_parts)
  fast_test(${name}_test SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/unit/${name}_test.cc
            LINK stencil_runtime LABELS unit)
endforeach()
foreach(name sweeps rounds)
  fast_test(${name}_test SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/unit/${name}_test.cc
            LINK stencil_engine LABELS unit)
endforeach()

# Two workers on a wire that the test moves frame by frame.
add_library(engine_pair STATIC ${CMAKE_CURRENT_SOURCE_DIR}/support/engine_pair.cc)
target_link_libraries(engine_pair PUBLIC stencil_runtime stencil_sim)
foreach(name engine engine_joining engine_turns peer boundary)
  fast_test(${name}_test SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/unit/${name}_test.cc
            LINK engine_pair LABELS unit)
endforeach()
find_package(Threads REQUIRED)
add_library(fast_test_allocations OBJECT ${CMAKE_CURRENT_SOURCE_DIR}/support/allocations.cc)
target_include_directories(fast_test_allocations PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
fast_test(pump_cost_test SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/unit/pump_cost_test.cc
          LINK fast_test_allocations stencil_runtime LABELS unit)
fast_test(mixer_test SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/unit/mixer_test.cc
          LINK stencil_mix Threads::Threads LABELS unit)
fast_test(team_test SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/unit/team_test.cc
          LINK stencil_mix Threads::Threads LABELS unit)
fast_test(places_test SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/unit/places_test.cc
          LINK stencil_codec LABELS unit)
fast_test(top_k_test SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/unit/top_k_test.cc
          LINK stencil_mix LABELS unit)
fast_test(residue_test SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/unit/residue_test.cc
          LINK stencil_mix PkgConfig::hwy LABELS unit)
fast_test(instruction_sets_test SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/unit/instruction_sets_test.cc
          LINK stencil_mix PkgConfig::hwy LABELS unit)
fast_test(payload_test SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/unit/payload_test.cc
          LINK stencil_core Threads::Threads LABELS unit)
fast_test(cadence_test SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/unit/cadence_test.cc
          LINK stencil_core LABELS unit)
fast_test(sweep_watch_test SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/unit/sweep_watch_test.cc
          LINK fast LABELS unit)
