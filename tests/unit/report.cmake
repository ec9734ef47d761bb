foreach(part metrics safetensors gather summary page live_table)
  fast_test(${part}_test SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/unit/${part}_test.cc
            LINK fast_report LABELS unit)
endforeach()
find_package(Python3 REQUIRED COMPONENTS Interpreter)
target_compile_definitions(safetensors_test PRIVATE
  PYTHON="${Python3_EXECUTABLE}"
  READER="${CMAKE_CURRENT_SOURCE_DIR}/integration/read_safetensors.py")
