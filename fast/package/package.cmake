# What is installed: libraries, the headers that users include, and the files of find_package(fast)
# and of pkg-config. FAST_LIBRARIES and FAST_HEADERS are what fast_library() has collected.
include(CMakePackageConfigHelpers)

get_property(headers GLOBAL PROPERTY FAST_HEADERS)
list(APPEND headers fast/adapter.h fast/errors.h fast/exit_codes.h fast/momentum.h)
foreach(header ${headers})
  file(STRINGS ${PROJECT_SOURCE_DIR}/${header} includes REGEX "^#include \"")
  foreach(include ${includes})
    string(REGEX REPLACE "^#include \"(.*)\".*" "\\1" include "${include}")
    if(NOT include IN_LIST headers AND NOT include STREQUAL "fast/version.h")
      message(FATAL_ERROR "${header} is installed and includes ${include}, which is not: name it "
              "behind API or INTERNAL in its folder's CMakeLists.txt")
    endif()
  endforeach()
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/${header} DESTINATION ${FAST_INCLUDE_DIR}/${folder}
    COMPONENT libfast-dev)
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/include/fast/version.h DESTINATION ${FAST_INCLUDE_DIR}/fast
  COMPONENT libfast-dev)

# An export for each component, so that users need only the dependencies of its libraries.
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/fast)
get_property(components GLOBAL PROPERTY FAST_COMPONENTS)
list(REMOVE_DUPLICATES components)
# Every user has the libraries of session, so these need none of another component: find_package()
# would fail for all.
get_property(of_session GLOBAL PROPERTY FAST_LIBRARIES_session)
get_property(ours GLOBAL PROPERTY FAST_LIBRARIES)
foreach(library ${of_session})
  get_target_property(needed ${library} LINK_LIBRARIES)
  foreach(other ${needed})
    if(other IN_LIST ours AND NOT other IN_LIST of_session)
      message(FATAL_ERROR "${library} is of component session, which every user has, and needs "
              "${other}, which is not: say COMPONENT in its fast_library()")
    endif()
  endforeach()
endforeach()
foreach(component ${components})
  install(EXPORT fast_${component} NAMESPACE fast:: DESTINATION ${package}
          FILE fast_${component}.cmake COMPONENT libfast-dev)
endforeach()
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/fastConfig.cmake.in
  ${PROJECT_BINARY_DIR}/fastConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/fastConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/fastConfig.cmake ${PROJECT_BINARY_DIR}/fastConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/wheel_torch.cmake DESTINATION ${package} COMPONENT libfast-dev)

# pkg-config: fast is the C library; fast-cxx are the session and the flat adapter, for embedding in
# C++ without a framework.
get_property(libraries GLOBAL PROPERTY FAST_LIBRARIES_session)
list(REVERSE libraries)  # a library comes before those that it needs
list(TRANSFORM libraries PREPEND -l)
set(cxx_libs ${libraries})
list(FILTER cxx_libs INCLUDE REGEX "^-lfast_")
set(cxx_engine ${libraries})
list(FILTER cxx_engine INCLUDE REGEX "^-lstencil_")
list(JOIN cxx_libs " " cxx_libs)
list(JOIN cxx_engine " " cxx_engine)
# The folder may be moved, and installed with another prefix than it was configured with.
file(RELATIVE_PATH pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" pc_prefix ${pc_prefix})
set(cxx_needs "protobuf-lite, libxxhash, libhwy, libsodium, libzmq, openssl")
if(BUILD_SHARED_LIBS)
  set(cxx_private "Requires.private: ${cxx_needs}\nLibs.private: ${cxx_engine}")
else()
  set(cxx_private "Requires: ${cxx_needs}")
  set(cxx_libs "${cxx_libs} ${cxx_engine} -pthread")
endif()
# fast_pc(NAME LIBS PRIVATE)
function(fast_pc pc_name pc_libs pc_private)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/fast.pc.in ${PROJECT_BINARY_DIR}/${pc_name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${pc_name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
    COMPONENT libfast-dev)
endfunction()
fast_pc(fast -lfast "")
fast_pc(fast-cxx "${cxx_libs}" "${cxx_private}")
