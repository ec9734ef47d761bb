# Sessions with real threads and sockets in one process, and programs as real processes.
set(programs FAST_PROGRAM="$<TARGET_FILE:fast_program>" FAST_WORKER="$<TARGET_FILE:fast-worker>")
set(plain_programs FAST_PROGRAM="$<TARGET_FILE:plain_fast>"
    FAST_WORKER="$<TARGET_FILE:plain_fast_worker>")

fast_test_room(integration/session
  LINK fast_session fast_flat fast_test_allocations fast_test_data_files
  LABELS integration TIMEOUT 300 ONE_CORE)
fast_test_room(integration/c
  LINK fast_c fast_run LABELS integration TIMEOUT 300 ONE_CORE)
add_library(fast_test_few_threads MODULE support/few_threads.cc)
add_library(fast_test_no_locks MODULE support/no_locks.cc)
add_library(fast_test_no_ipv4 MODULE support/no_ipv4.cc)
add_library(fast_test_takes_hangup MODULE support/takes_hangup.cc)
# A wall clock of one process alone; clocks_test says what to install where it is missing.
find_file(FAST_FAKETIME libfaketime.so.1
  PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/faketime NO_DEFAULT_PATH)
fast_test_room(integration/programs
  LINK fast_test_faults fast_test_data_files fast_report nlohmann_json::nlohmann_json
  LABELS integration TIMEOUT 300 ONE_CORE
  DEPENDS plain_fast plain_fast_worker fast_program fast_test_member
          fast_test_few_threads fast_test_no_locks fast_test_no_ipv4 fast_test_takes_hangup
  DEFINES ${plain_programs} FAST_OF_ALL_MODELS="$<TARGET_FILE:fast_program>"
          FAST_MEMBER="$<TARGET_FILE:fast_test_member>"
          FAST_FEW_THREADS="$<TARGET_FILE:fast_test_few_threads>"
          FAST_NO_LOCKS="$<TARGET_FILE:fast_test_no_locks>"
          FAST_NO_IPV4="$<TARGET_FILE:fast_test_no_ipv4>" FAST_FAKETIME="${FAST_FAKETIME}"
          FAST_TAKES_HANGUP="$<TARGET_FILE:fast_test_takes_hangup>")
# Runs of many processes with real time-outs: minutes each under a sanitizer, on code that the other
# tests and the fuzzers try there. `slow` leaves them out.
fast_test_room(integration/faults
  LINK fast_test_faults fast_test_data_files fast_test_key_rings fast_session fast_flat stencil_core
       stencil_transport stencil_wire
  LABELS integration slow TIMEOUT 600 COST 20 ONE_CORE
  DEPENDS plain_fast plain_fast_worker DEFINES ${plain_programs})
set(skips ${CMAKE_CURRENT_BINARY_DIR}/memory_limit_test_skips.cmake)
file(WRITE ${skips}.new "foreach(test memory_limit_test worker_memory_test clocks_test)
  if(\${test}_TESTS)
    set_tests_properties(\${\${test}_TESTS} PROPERTIES SKIP_REGULAR_EXPRESSION
      \"(control groups with a limit of memory|time namespaces) cannot be made here\")
  endif()
endforeach()\n")
file(COPY_FILE ${skips}.new ${skips} ONLY_IF_DIFFERENT)
set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${skips})
fast_test_room(integration/chaos
  LINK fast_test_faults fast_test_data_files fast_run stencil_core
  LABELS integration slow TIMEOUT 600 ALONE
  DEPENDS fast_program fast-worker DEFINES ${programs})
# The seeds that the room leaves out: by name, since they take ten minutes.
if(NOT FAST_SANITIZE)
  add_test(NAME chaos_of_twenty_seeds COMMAND chaos_test)
  set_tests_properties(chaos_of_twenty_seeds PROPERTIES LABELS chaos TIMEOUT 3600 PROCESSORS 1000
    ENVIRONMENT FAST_CHAOS_SEEDS=41-60)
endif()
# Which processes are connected, as the system's own tables tell, of up to 64 processes.
fast_test_room(integration/sockets
  LINK fast_test_faults fast_test_data_files stencil_core
  LABELS integration slow TIMEOUT 600 ALONE
  DEPENDS plain_fast plain_fast_worker DEFINES ${plain_programs})
add_test(NAME captured_traffic
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/integration/capture/captured_traffic.py
          $<TARGET_FILE:plain_fast> $<TARGET_FILE:plain_fast_worker>)
set_tests_properties(captured_traffic PROPERTIES LABELS integration TIMEOUT 300)
# Two workers over links as they are out there, each case in namespaces of its own.
foreach(case a_long_way_that_loses_packets a_path_that_drops_long_packets_is_named
             packets_that_such_a_path_carries no_route_at_the_start a_name_that_is_known_later
             hosts_whose_addresses_change a_path_that_is_cut_for_a_while)
  add_test(NAME rough_links_${case}
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/integration/capture/rough_links_test.py
            $<TARGET_FILE:plain_fast_worker> RoughLinks.test_${case})
  set_tests_properties(rough_links_${case} PROPERTIES LABELS "integration;slow" TIMEOUT 300 COST 40
    SKIP_REGULAR_EXPRESSION "no host can be made here" ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
endforeach()
if(FAST_WITH_TORCH)
  fast_test_room(integration/own
    LINK fast_torch_models fast_test_faults fast_test_data_files
    LABELS integration slow TIMEOUT 300 COST 15 ONE_CORE
    DEPENDS fast_program fast-worker DEFINES ${programs})
  fast_test_room(integration/training LINK fast_test_faults fast_test_data_files LABELS data
    TIMEOUT 1800 COST 100 DEPENDS fast_program fast-worker DEFINES ${programs})
endif()
if(TARGET compare)
  fast_test_room(integration/compare LINK compare fast_test_faults fast_test_data_files
    LABELS integration slow TIMEOUT 300 COST 15 ONE_CORE
    DEPENDS fast-compare DEFINES FAST_COMPARE="$<TARGET_FILE:fast-compare>")
endif()

# The package of Python, over libfast.so. A library with a sanitizer cannot be loaded by a program
# without one. FAST_PYTHON: by default Debian's, which has Debian's PyTorch.
find_program(FAST_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
if(NOT FAST_PYTHON)
  set(FAST_PYTHON ${Python3_EXECUTABLE})
endif()
if(NOT FAST_SANITIZE)
  file(GLOB python_tests CONFIGURE_DEPENDS
    ${CMAKE_CURRENT_SOURCE_DIR}/integration/python/*_test.py)
  foreach(test ${python_tests})
    get_filename_component(name ${test} NAME_WE)
    add_test(NAME python_${name} COMMAND ${FAST_PYTHON} -W error::ResourceWarning ${test})
    set_tests_properties(python_${name} PROPERTIES LABELS integration TIMEOUT 300 PROCESSORS 2
      ENVIRONMENT "OMP_NUM_THREADS=1;FAST_LIBRARY=$<TARGET_FILE:fast_c>;PYTHONPATH=${PROJECT_SOURCE_DIR}/adapters/python;PYTHONDONTWRITEBYTECODE=1")
  endforeach()
  add_test(NAME strangers_in_namespaces
    COMMAND ${FAST_PYTHON}
            ${CMAKE_CURRENT_SOURCE_DIR}/integration/capture/strangers_in_namespaces.py
            $<TARGET_FILE:fast_program>)
  set_tests_properties(strangers_in_namespaces PROPERTIES LABELS "integration;slow" TIMEOUT 600
    COST 50 PROCESSORS 2 SKIP_REGULAR_EXPRESSION "network namespaces cannot be made here"
    ENVIRONMENT "FAST_LIBRARY=$<TARGET_FILE:fast_c>;PYTHONPATH=${PROJECT_SOURCE_DIR}/adapters/python;PYTHONDONTWRITEBYTECODE=1")
  include(integration/documents/documents.cmake)
endif()

# Real launchers of clusters, whose packages are a group of their own (`cluster`).
foreach(launcher mpirun slurm)
  add_test(NAME cluster_${launcher}
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/integration/cluster/launchers.py
            ${launcher} $<TARGET_FILE:fast-worker>)
  set_tests_properties(cluster_${launcher} PROPERTIES LABELS cluster TIMEOUT 600 PROCESSORS 2)
endforeach()

# Benchmarks run at all; what they measure is for people to look at.
function(runs name)
  if(NOT TARGET ${name})
    return()
  endif()
  add_test(NAME ${name}_runs COMMAND ${name} ${ARGN})
  set_tests_properties(${name}_runs PROPERTIES
    LABELS "integration;slow" TIMEOUT 120 PROCESSORS 2)
endfunction()
set(json ${CMAKE_CURRENT_BINARY_DIR})
runs(mix_bench --benchmark_filter=small --benchmark_min_time=0.01)
runs(codec_bench --benchmark_min_time=0.01)
runs(wire_bench --sizes 1 --rounds 1 --round-mb 4 --json ${json}/wire_bench.json)
runs(idle_bench --seconds 0.5 --json ${json}/idle_bench.json)
runs(shared_bench 0.1 3 --json ${json}/shared_bench.json)
runs(exchange_bench --workers 2 --floats 1000 --seconds 0.3
     --contenders memcpy,sockets,fast,fast-tcp,fast-zmq,fast-zmq-keys,fast-paced --json ${json}/exchange_bench.json)
