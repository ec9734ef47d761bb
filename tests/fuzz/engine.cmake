if(FAST_BUILD_FUZZERS)
  fast_fuzzer(engine_fuzz ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/engine_fuzz.cc LINK stencil_runtime)
endif()
