# Benchmarks run at all; what they measure is for people to look at.
function(runs name)
  if(NOT TARGET ${name})
    return()
  endif()
  add_test(NAME ${name}_runs COMMAND ${name} ${ARGN})
  set_tests_properties(${name}_runs PROPERTIES
    LABELS "integration;slow" TIMEOUT 120 PROCESSORS 2)
endfunction()
runs(mix_bench --benchmark_filter=small --benchmark_min_time=0.01)
runs(codec_bench --benchmark_min_time=0.01)
runs(wire_bench --sizes 1 --rounds 1 --round-mb 4 --json ${CMAKE_CURRENT_BINARY_DIR}/wire_bench.json)
runs(idle_bench --seconds 0.5 --json ${CMAKE_CURRENT_BINARY_DIR}/idle_bench.json)
runs(shared_bench 0.1 3 --json ${CMAKE_CURRENT_BINARY_DIR}/shared_bench.json)
runs(exchange_bench --workers 2 --floats 1000 --seconds 0.3
     --contenders memcpy,sockets,fast,fast-tcp,fast-paced
     --json ${CMAKE_CURRENT_BINARY_DIR}/exchange_bench.json)
