# What tests have in common.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# Two workers on a wire that the test moves frame by frame.
add_library(fast_test_engine_pair STATIC support/engine_pair.cc)
target_link_libraries(fast_test_engine_pair PUBLIC stencil_runtime stencil_sim)
# Simulated runs.
add_library(fast_test_sim_cases STATIC support/sim_cases.cc)
target_link_libraries(fast_test_sim_cases PUBLIC stencil_sim GTest::gtest)
if(FAST_SANITIZE)
  target_compile_definitions(fast_test_sim_cases PRIVATE FAST_SANITIZED)
endif()
# Counts what is allocated.
add_library(fast_test_allocations OBJECT support/allocations.cc)
target_include_directories(fast_test_allocations PUBLIC ${PROJECT_SOURCE_DIR})
# Keys that are always the same.
add_library(fast_test_key_rings STATIC support/key_rings.cc)
target_link_libraries(fast_test_key_rings PUBLIC stencil_core PRIVATE PkgConfig::sodium)
# Data sets in their file formats.
add_library(fast_test_data_files STATIC support/cifar_files.cc)
target_link_libraries(fast_test_data_files PUBLIC stencil_core PRIVATE ZLIB::ZLIB)
# Programs as other processes, and what goes wrong with them.
add_library(fast_test_process STATIC support/process.cc support/memory_group.cc)
target_include_directories(fast_test_process PUBLIC ${PROJECT_SOURCE_DIR})
add_library(fast_test_faults STATIC support/faults.cc)
target_link_libraries(fast_test_faults PUBLIC fast_test_process fast_report
  nlohmann_json::nlohmann_json)
# Memory of every type, by name.
add_library(fast_test_plain_model STATIC support/plain_model.cc)
target_link_libraries(fast_test_plain_model PUBLIC stencil_core)
# The programs with the models of adapters/flat alone. Most tests that start programs are about other
# things than LibTorch, and to load it takes a process most of a second.
foreach(program fast fast-worker)
  string(REPLACE - _ source ${program})
  add_executable(plain_${source} support/plain_models.cc ../adapters/programs/${source}.cc
    ../adapters/programs/hangup.cc)
  set_target_properties(plain_${source} PROPERTIES OUTPUT_NAME ${program}
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/plain)
  target_link_libraries(plain_${source} PRIVATE fast_programs fast_flat_models)
  fast_warnings(plain_${source})
endforeach()
# A worker whose options come from the environment alone.
add_executable(fast_test_member support/member.cc)
target_link_libraries(fast_test_member PRIVATE fast_session fast_flat)
foreach(support member engine_pair key_rings sim_cases allocations data_files process faults plain_model)
  fast_warnings(fast_test_${support})
endforeach()
