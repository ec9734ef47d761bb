if(FAST_BUILD_FUZZERS)
  fast_fuzzer(edges_fuzz ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/edges_fuzz.cc LINK stencil_core)
endif()
