if(FAST_BUILD_FUZZERS)
  fast_fuzzer(stream_fuzz ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/stream_fuzz.cc LINK stencil_transport)
endif()
