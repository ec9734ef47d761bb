if(TARGET compare)
  foreach(name compare_spec compare_table compare_cell compare_timing compare_rounds compare_virtual)
    fast_test(${name}_test SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/unit/${name}_test.cc
              LINK compare fast_cifar_files LABELS unit TIMEOUT 120)
  endforeach()
  target_compile_definitions(compare_spec_test PRIVATE
    FAST_SPECS="${PROJECT_SOURCE_DIR}/bench/specs")
endif()
