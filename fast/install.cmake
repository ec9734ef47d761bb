# Public headers and the package files of find_package(fast); libraries are installed where
# fast_library() makes them.
include(CMakePackageConfigHelpers)

set(headers stencil fast adapters/flat)
if(FAST_WITH_TORCH)
  list(APPEND headers adapters/torch)
endif()
foreach(room ${headers})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${room}/
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/fast-training/${room}
    FILES_MATCHING PATTERN "*.h" PATTERN programs EXCLUDE)
endforeach()

get_property(libraries GLOBAL PROPERTY FAST_LIBRARIES)
if(libraries)
  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/fast)
  install(EXPORT fastTargets NAMESPACE fast:: DESTINATION ${package})
  configure_package_config_file(${PROJECT_SOURCE_DIR}/fast/fastConfig.cmake.in
    ${PROJECT_BINARY_DIR}/fastConfig.cmake INSTALL_DESTINATION ${package})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/fastConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/fastConfig.cmake ${PROJECT_BINARY_DIR}/fastConfigVersion.cmake
    DESTINATION ${package})
endif()
