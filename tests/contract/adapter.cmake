# An OBJECT library: from an archive the linker would drop tests that nobody refers to.
add_library(adapter_contract OBJECT ${CMAKE_CURRENT_SOURCE_DIR}/contract/adapter_contract.cc)
target_include_directories(adapter_contract PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_compile_options(adapter_contract PRIVATE -Wall -Wextra -Werror)
target_link_libraries(adapter_contract PUBLIC stencil_core GTest::gtest)

fast_test(adapter_flat_test
  SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/contract/adapter_flat_test.cc
  LINK adapter_contract fast_flat LABELS contract)
if(TARGET fast_torch)
  fast_test(adapter_torch_test
    SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/contract/adapter_torch_test.cc
    LINK adapter_contract fast_torch LABELS contract TIMEOUT 120)
endif()
