fast_test(wire_test SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/unit/wire_test.cc
          LINK stencil_wire LABELS unit)
