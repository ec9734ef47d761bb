if(FAST_BUILD_FUZZERS AND TARGET fast_programs)
  # The parser alone: the rest of the programs needs frameworks that fuzzers do not.
  fast_fuzzer(toml_fuzz ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/toml_fuzz.cc LINK fast_toml)
endif()
