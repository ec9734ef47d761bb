if(FAST_BUILD_FUZZERS)
  fast_fuzzer(wire_fuzz ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/wire_fuzz.cc
    LINK stencil_wire PkgConfig::xxhash)
  add_executable(wire_corpus EXCLUDE_FROM_ALL ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/wire_corpus.cc)
  target_link_libraries(wire_corpus PRIVATE stencil_wire)
endif()
