# Debian's packages, by `cpack -G DEB` in a build folder that was configured as .ci/run's step deb does.
# A package is a component of what is installed:
#   fast                   all programs of the build, and the worker as a service
#   fast-worker-small      the worker alone, as a service; of a build without LibTorch
#   libfast, libfast-dev   the C library; headers and libraries for C and C++
#   python3-fast-training  Python's package, over libfast
# fast and fast-worker-small have the worker under one name, with one unit, so that a board may have
# either, and not both.
set(workers fast)
if(NOT FAST_WITH_TORCH)
  list(APPEND workers fast-worker-small)
endif()

# What only packages install: the service, and the papers of each package.
configure_file(${CMAKE_CURRENT_LIST_DIR}/service/fast-worker@.service.in
  ${PROJECT_BINARY_DIR}/package/fast-worker@.service @ONLY)
foreach(worker ${workers})
  install(FILES ${PROJECT_BINARY_DIR}/package/fast-worker@.service
    DESTINATION lib/systemd/system COMPONENT ${worker} EXCLUDE_FROM_ALL)
  install(FILES ${CMAKE_CURRENT_LIST_DIR}/service/sysusers.conf RENAME fast.conf
    DESTINATION lib/sysusers.d COMPONENT ${worker} EXCLUDE_FROM_ALL)
  install(FILES ${CMAKE_CURRENT_LIST_DIR}/service/worker.conf
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fast-training COMPONENT ${worker} EXCLUDE_FROM_ALL)
endforeach()
if(FAST_BUILD_PROGRAMS AND NOT FAST_WITH_TORCH)
  install(TARGETS fast-worker RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
    COMPONENT fast-worker-small EXCLUDE_FROM_ALL)
  install(FILES ${CMAKE_CURRENT_LIST_DIR}/service/small.conf
    DESTINATION lib/systemd/system/fast-worker@.service.d
    COMPONENT fast-worker-small EXCLUDE_FROM_ALL)
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/debian/METADATA.in
  ${PROJECT_BINARY_DIR}/package/METADATA @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/METADATA
  DESTINATION lib/python3/dist-packages/fast_training-${PROJECT_VERSION}.dist-info
  COMPONENT python3-fast-training EXCLUDE_FROM_ALL)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/adapters/python/fast_training
  DESTINATION lib/python3/dist-packages COMPONENT python3-fast-training EXCLUDE_FROM_ALL
  FILES_MATCHING PATTERN *.py PATTERN py.typed)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME fast-training)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The authors of FAST <authors@fast-training.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_COMPONENTS_ALL ${workers} libfast libfast-dev python3-fast-training)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# A release's libraries have names of their own, so packages are of one release of Debian each.
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
file(STRINGS /etc/os-release debian REGEX "^VERSION_ID=")
if(debian MATCHES "([0-9]+)")
  set(CPACK_DEBIAN_PACKAGE_RELEASE 1~deb${CMAKE_MATCH_1})
endif()
# dpkg-shlibdeps finds the packages of this machine's libraries alone. Those of another architecture
# are of the same packages, whose names are read from this machine's packages of FAST.
set(FAST_DEB_LIKE "" CACHE PATH
    "For another architecture: the folder of the same packages for this machine")
if(CMAKE_CROSSCOMPILING)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS OFF)
  set(architectures aarch64 arm64 armv7l armhf)
  list(FIND architectures "${CMAKE_SYSTEM_PROCESSOR}" place)
  math(EXPR place "${place} + 1")
  list(GET architectures ${place} CPACK_DEBIAN_PACKAGE_ARCHITECTURE)
endif()
set(deb_version ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})

string(TIMESTAMP deb_date "%a, %d %b %Y %H:%M:%S +0000" UTC)
configure_file(${CMAKE_CURRENT_LIST_DIR}/debian/changelog.in
  ${PROJECT_BINARY_DIR}/package/changelog.Debian @ONLY)
execute_process(COMMAND gzip -9nfk ${PROJECT_BINARY_DIR}/package/changelog.Debian)
# fast_deb(NAME SUMMARY [DEPENDS ..] [RECOMMENDS ..] [SECTION section] [SCRIPTS folder]
#          [ARCHITECTURE all] [TEXT lines])
function(fast_deb name summary)
  cmake_parse_arguments(ARG "" "SECTION;SCRIPTS;ARCHITECTURE;TEXT;DEPENDS;RECOMMENDS" "" ${ARGN})
  install(FILES ${CMAKE_CURRENT_LIST_DIR}/debian/copyright
    ${PROJECT_BINARY_DIR}/package/changelog.Debian.gz
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${name} EXCLUDE_FROM_ALL)
  if(CMAKE_CROSSCOMPILING)
    file(GLOB like ${FAST_DEB_LIKE}/${name}_*.deb)
    list(GET like 0 like)
    execute_process(COMMAND dpkg-deb -f ${like} Depends OUTPUT_VARIABLE ARG_DEPENDS
      OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  endif()
  string(TOUPPER ${name} of)
  set(CPACK_DEBIAN_${of}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${of}_DESCRIPTION "${summary}\n${ARG_TEXT}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${of}_PACKAGE_DEPENDS "${ARG_DEPENDS}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${of}_PACKAGE_RECOMMENDS "${ARG_RECOMMENDS}" PARENT_SCOPE)
  if(ARG_SECTION)
    set(CPACK_DEBIAN_${of}_PACKAGE_SECTION ${ARG_SECTION} PARENT_SCOPE)
  endif()
  if(ARG_ARCHITECTURE)
    set(CPACK_DEBIAN_${of}_PACKAGE_ARCHITECTURE ${ARG_ARCHITECTURE} PARENT_SCOPE)
    set(CPACK_DEBIAN_${of}_PACKAGE_SHLIBDEPS OFF PARENT_SCOPE)
  endif()
  if(ARG_SCRIPTS)
    file(GLOB scripts ${CMAKE_CURRENT_LIST_DIR}/debian/${ARG_SCRIPTS}/*)
    set(CPACK_DEBIAN_${of}_PACKAGE_CONTROL_EXTRA "${scripts}" PARENT_SCOPE)
  endif()
endfunction()

set(grid "FAST trains one deep-learning model on many workers that stand on a
grid and average parameters with their neighbours alone: no server, no
barrier, no coordinator.")
set(sysusers "systemd | systemd-standalone-sysusers | systemd-sysusers")
if(FAST_WITH_TORCH)
  set(programs "This package has the programs fast, fast-worker and fast-compare, and the\nworker as a service.")
  set(blas libopenblas0-openmp)
else()
  set(programs "This package has the programs fast and fast-worker with the models that\nneed no LibTorch, and the worker as a service.")
  set(blas)
endif()
fast_deb(fast "decentralised training of deep-learning models, all programs"
  TEXT "${grid}\n${programs}" DEPENDS "${sysusers}" RECOMMENDS "${blas}" SCRIPTS worker)
set(CPACK_DEBIAN_FAST_PACKAGE_CONFLICTS fast-worker-small)
set(CPACK_DEBIAN_FAST_PACKAGE_REPLACES fast-worker-small)
fast_deb(fast-worker-small "worker of decentralised training, for small devices"
  TEXT "${grid}\nThis package has fast-worker with the models that need no LibTorch, and it\nas a service."
  DEPENDS "${sysusers}" SCRIPTS worker)
set(CPACK_DEBIAN_FAST-WORKER-SMALL_PACKAGE_CONFLICTS fast)
set(CPACK_DEBIAN_FAST-WORKER-SMALL_PACKAGE_REPLACES fast)
fast_deb(libfast "decentralised training in a program of one's own, C library"
  TEXT "${grid}\nThis package has the shared library of fast.h."
  SECTION libs SCRIPTS libfast)
fast_deb(libfast-dev "decentralised training in a program of one's own, for C and C++"
  TEXT "${grid}\nThis package has the headers and libraries for programs in C and C++."
  SECTION libdevel
  DEPENDS "libfast (= ${deb_version}), libprotobuf-dev, libxxhash-dev, libhwy-dev, libsodium-dev, libzmq3-dev, libssl-dev, pkg-config"
  RECOMMENDS "libfmt-dev, libspdlog-dev, zlib1g-dev, libpng-dev, libjpeg62-turbo-dev")
fast_deb(python3-fast-training "decentralised training in Python, with any framework"
  TEXT "${grid}\nThis package has the module fast_training." SECTION python ARCHITECTURE all
  DEPENDS "python3 (>= 3.9), libfast (>= ${PROJECT_VERSION})" SCRIPTS python)
include(CPack)
