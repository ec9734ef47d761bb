foreach(name topology turns weights usual_sweeps layout random)
  fast_test(${name}_test SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/unit/${name}_test.cc
            LINK stencil_core LABELS unit)
endforeach()
fast_test(codec_test SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/unit/codec_test.cc
          LINK stencil_codec PkgConfig::hwy LABELS unit)
