foreach(name settlement)
  fast_test(${name}_test SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/unit/${name}_test.cc
            LINK stencil_runtime LABELS unit)
endforeach()
foreach(name sweeps rounds)
  fast_test(${name}_test SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/unit/${name}_test.cc
            LINK stencil_engine LABELS unit)
endforeach()
