fast_test(wire_test SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/unit/wire_test.cc
          LINK stencil_wire LABELS unit)
fast_test(event_loop_test SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/unit/event_loop_test.cc
          LINK stencil_io LABELS unit)
fast_test(frame_reader_test SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/unit/frame_reader_test.cc
  LINK stencil_transport LABELS unit)
fast_test(frame_writer_test SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/unit/frame_writer_test.cc
  LINK stencil_transport LABELS unit)
