# Benchmarks run at all; what they measure is for people to look at.
if(TARGET exchange_bench)
  add_test(NAME exchange_bench_runs
    COMMAND exchange_bench --workers 2 --floats 1000 --seconds 0.3
            --contenders memcpy,sockets,fast,fast-paced)
  set_tests_properties(exchange_bench_runs PROPERTIES
    LABELS "integration;slow" TIMEOUT 120 PROCESSORS 2
    PASS_REGULAR_EXPRESSION "memcpy.*sockets.*fast .*fast-paced")
endif()
