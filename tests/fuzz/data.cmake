if(FAST_BUILD_FUZZERS)
  fast_fuzzer(cifar10_fuzz ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/cifar10_fuzz.cc LINK fast_data)
  fast_fuzzer(idx_fuzz ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/idx_fuzz.cc LINK fast_data)
endif()
