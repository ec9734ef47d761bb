if(FAST_BUILD_FUZZERS)
  fast_fuzzer(safetensors_fuzz ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/safetensors_fuzz.cc LINK fast_report)
  fast_fuzzer(metrics_fuzz ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/metrics_fuzz.cc LINK fast_report)
endif()
