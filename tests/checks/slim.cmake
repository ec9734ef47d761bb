# Configures FAST for embedding, by itself and as a part of another project, where none of the
# libraries of the programs are found: both must work, and the other project installs nothing of FAST.
#
# usage: cmake -DFAST=SOURCE_DIR -DBUILD=EMPTY_DIR -DGENERATOR=NAME -P slim.cmake
file(REMOVE_RECURSE ${BUILD})
set(slim -DFAST_WITH_TORCH=OFF -DFAST_BUILD_PROGRAMS=OFF)
foreach(library fmt spdlog CLI11 ZLIB tomlplusplus Torch GTest benchmark)
  list(APPEND slim -DCMAKE_DISABLE_FIND_PACKAGE_${library}=ON)
endforeach()

# configure(SOURCE BINARY): fails with CMake's own words.
function(configure source binary)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${source} -B ${binary} -G ${GENERATOR} ${slim}
    OUTPUT_VARIABLE said ERROR_VARIABLE said RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${source} cannot be configured without the libraries of the programs:\n${said}")
  endif()
  file(STRINGS ${binary}/CMakeCache.txt asked REGEX "^CHART_JS")
  if(asked)
    message(FATAL_ERROR "${source} asks for Chart.js without the programs: ${asked}")
  endif()
endfunction()

configure(${FAST} ${BUILD}/alone)

file(WRITE ${BUILD}/other/main.cc "int main() {}\n")
file(WRITE ${BUILD}/other/CMakeLists.txt "cmake_minimum_required(VERSION 3.22)
project(other LANGUAGES C CXX)
add_subdirectory(${FAST} fast)
add_executable(other main.cc)
target_link_libraries(other PRIVATE fast::session)
install(TARGETS other RUNTIME DESTINATION bin)
file(GENERATE OUTPUT $<TARGET_FILE:other> CONTENT program)
")
configure(${BUILD}/other ${BUILD}/as-part)
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD}/as-part --prefix ${BUILD}/installed
  OUTPUT_VARIABLE said ERROR_VARIABLE said RESULT_VARIABLE code)
file(GLOB_RECURSE installed RELATIVE ${BUILD}/installed ${BUILD}/installed/*)
if(NOT code EQUAL 0 OR NOT installed STREQUAL "bin/other")
  message(FATAL_ERROR "a project that FAST is a part of installs '${installed}', not its program alone:\n${said}")
endif()
