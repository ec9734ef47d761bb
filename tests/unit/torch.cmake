fast_test(flat_adapter_test
  SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/unit/flat_adapter_test.cc
  LINK fast_flat LABELS unit)
if(TARGET fast_torch)
  fast_test(torch_adapter_test
    SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/unit/torch_adapter_test.cc
    LINK fast_torch LABELS unit TIMEOUT 120)
  fast_test(torch_learner_test
    SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/unit/torch_learner_test.cc
    LINK fast_torch fast_flat LABELS unit TIMEOUT 120)
endif()
