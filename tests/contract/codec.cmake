# An OBJECT library: the suite's tests register themselves, which a static library would drop.
add_library(codec_contract OBJECT ${CMAKE_CURRENT_SOURCE_DIR}/contract/codec_contract.cc)
target_link_libraries(codec_contract PUBLIC stencil_codec GTest::gtest)
target_compile_options(codec_contract PRIVATE -Wall -Wextra -Werror)
foreach(codec fp32 fp16 bf16 int8 int4)
  fast_test(codec_${codec}_test
            SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/contract/codec_${codec}_test.cc
            LINK codec_contract stencil_codec LABELS contract)
endforeach()
