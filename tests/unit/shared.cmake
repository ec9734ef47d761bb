foreach(name segment meeting share)
  fast_test(${name}_test SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/unit/${name}_test.cc
            LINK stencil_sim engine_pair Threads::Threads LABELS unit)
endforeach()
