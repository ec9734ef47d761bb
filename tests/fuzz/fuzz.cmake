# A libFuzzer target of each NAME_fuzz.cc.
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/*_fuzz.cc)
foreach(source ${sources})
  get_filename_component(name ${source} NAME_WE)
  fast_fuzzer(${name} ${source} LINK stencil_runtime fast_session fast_data fast_run fast_programs
    PkgConfig::xxhash tomlplusplus::tomlplusplus)
endforeach()
# The build by clang is also where its thread-safety analysis runs: over all libraries.
if(FAST_BUILD_FUZZERS)
  get_property(libraries GLOBAL PROPERTY FAST_LIBRARIES)
  add_dependencies(all_fuzzers ${libraries} fast_c)
endif()
# Writes the seeds of wire_fuzz anew.
add_executable(wire_corpus EXCLUDE_FROM_ALL fuzz/wire_corpus.cc)
target_link_libraries(wire_corpus PRIVATE stencil_wire)
