# One suite for all transports; each kind adds a file that instantiates it.
add_library(transport_contract OBJECT
  ${CMAKE_CURRENT_SOURCE_DIR}/contract/transport_contract.cc
  ${CMAKE_CURRENT_SOURCE_DIR}/contract/transport_support.cc)
target_include_directories(transport_contract PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_compile_options(transport_contract PRIVATE -Wall -Wextra -Werror)
target_link_libraries(transport_contract PUBLIC stencil_transport stencil_io GTest::gmock)

foreach(kind inproc faulty)
  fast_test(transport_${kind}_test
    SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/contract/transport_${kind}_test.cc
    LINK transport_contract LABELS contract)
endforeach()
fast_test(transport_stream_test
  SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/contract/transport_stream_test.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/contract/transport_stream_strangers_test.cc
  LINK transport_contract LABELS contract)
