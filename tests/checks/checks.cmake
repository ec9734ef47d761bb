# Checks of the source tree itself, and the target that compiles every public header alone. Sanitizers
# add nothing to them but data and symbols of their own.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
if(FAST_SANITIZE)
  return()
endif()

add_test(NAME include_directions_of_the_tree_hold
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/include_directions.py ${PROJECT_SOURCE_DIR})
add_test(NAME include_directions_check_fails_on_each_bad_example
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/include_directions.py --self-test)
set_tests_properties(include_directions_of_the_tree_hold
  include_directions_check_fails_on_each_bad_example PROPERTIES LABELS unit TIMEOUT 60)

# The picture of one bucket's way in stencil/README.md: its functions and their number.
add_test(NAME the_way_of_a_bucket_is_as_documented
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/bucket_way.py ${PROJECT_SOURCE_DIR})
add_test(NAME bucket_way_check_fails_on_each_bad_example
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/bucket_way.py --self-test)
set_tests_properties(the_way_of_a_bucket_is_as_documented
  bucket_way_check_fails_on_each_bad_example PROPERTIES LABELS unit TIMEOUT 60)

# Clang's analysis, which CI's build of the fuzzers runs over all libraries, sees what the annotations say.
# Where clang is not installed the test is disabled, so that ctest and tests/run.sh name it.
find_program(CLANG NAMES clang++-14 clang++)
set(clang ${CLANG})
if(NOT CLANG)
  set(clang ${CMAKE_COMMAND})  # never started; ctest looks for every test's program
endif()
add_test(NAME clang_refuses_a_guarded_member_used_without_its_lock
  COMMAND ${clang} -std=c++20 -fsyntax-only -Wthread-safety -Werror=thread-safety
    -I ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_LIST_DIR}/unlocked.cc)
set_tests_properties(clang_refuses_a_guarded_member_used_without_its_lock PROPERTIES
  LABELS unit TIMEOUT 60
  PASS_REGULAR_EXPRESSION "error: writing variable 'count_' requires holding mutex 'mutex_'")
if(NOT CLANG)
  set_tests_properties(clang_refuses_a_guarded_member_used_without_its_lock PROPERTIES DISABLED ON)
endif()

# No globals: of every library and of what the programs are made of.
add_test(NAME no_globals_check_fails_on_each_bad_example
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/no_globals.py --self-test
    ${CMAKE_CXX_COMPILER})
set_tests_properties(no_globals_check_fails_on_each_bad_example PROPERTIES LABELS unit TIMEOUT 60)
get_property(libraries GLOBAL PROPERTY FAST_LIBRARIES)
if(NOT FAST_BUILD_FUZZERS)
  set(archives)
  foreach(library ${libraries})
    list(APPEND archives $<TARGET_FILE:${library}>)
  endforeach()
  add_test(NAME no_library_holds_a_mutable_global
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/no_globals.py ${archives}
      $<TARGET_OBJECTS:fast_c>)
  set_tests_properties(no_library_holds_a_mutable_global PROPERTIES LABELS unit TIMEOUT 60)
endif()

# fast.h is for C and C++ of every standard, libfast.so for users of any other library.
foreach(language c99 c11 c++98 c++20)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/fast_h.c)
  set(compiler ${CMAKE_C_COMPILER})
  if(language MATCHES "\\+")
    set(source ${CMAKE_CURRENT_BINARY_DIR}/fast_h.cc)
    set(compiler ${CMAKE_CXX_COMPILER})
  endif()
  file(WRITE ${source} "#include \"fast.h\"\n#include \"fast.h\"\nint main(void) { return fast_version() == NULL; }\n")
  add_test(NAME fast_h_compiles_as_${language}
    COMMAND ${compiler} -std=${language} -Wall -Wextra -pedantic -Werror -fsyntax-only
      -I ${PROJECT_SOURCE_DIR}/adapters/c ${source})
  set_tests_properties(fast_h_compiles_as_${language} PROPERTIES LABELS unit TIMEOUT 60)
endforeach()
add_test(NAME the_c_library_exports_what_its_header_declares_and_needs_no_framework
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/c_library.py $<TARGET_FILE:fast_c>
    ${PROJECT_SOURCE_DIR}/adapters/c/fast.h)
set_tests_properties(the_c_library_exports_what_its_header_declares_and_needs_no_framework
  PROPERTIES LABELS unit TIMEOUT 60)

add_test(NAME c_abi_check_fails_on_each_bad_example
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/c_abi.py --self-test)
add_test(NAME programs_compiled_against_an_earlier_fast_h_run_with_the_library_of_today
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/c_abi.py $<TARGET_FILE:fast_c>)
set_tests_properties(c_abi_check_fails_on_each_bad_example
  programs_compiled_against_an_earlier_fast_h_run_with_the_library_of_today
  PROPERTIES LABELS unit TIMEOUT 60)

# Embedded in another project without programs: a configuration that finds no library of theirs.
add_test(NAME sessions_alone_ask_for_no_library_of_the_programs
  COMMAND ${CMAKE_COMMAND} -DFAST=${PROJECT_SOURCE_DIR} -DBUILD=${CMAKE_CURRENT_BINARY_DIR}/slim
    -DGENERATOR=${CMAKE_GENERATOR} -P ${CMAKE_CURRENT_LIST_DIR}/slim.cmake)
set_tests_properties(sessions_alone_ask_for_no_library_of_the_programs
  PROPERTIES LABELS unit TIMEOUT 180)

# The worker as a service. Where systemd's tools are not installed the test is disabled, and named.
find_program(SYSTEMD_ANALYZE systemd-analyze)
add_test(NAME the_unit_of_a_worker_is_one_that_systemd_takes_and_confines
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/service_unit.py
    ${PROJECT_SOURCE_DIR}/fast/package/service $<TARGET_FILE:plain_fast_worker>)
set_tests_properties(the_unit_of_a_worker_is_one_that_systemd_takes_and_confines
  PROPERTIES LABELS unit TIMEOUT 120)
if(NOT SYSTEMD_ANALYZE)
  set_tests_properties(the_unit_of_a_worker_is_one_that_systemd_takes_and_confines PROPERTIES DISABLED ON)
endif()

# The list of packages: of what this build read. Where headers come from dpkg's packages alone.
add_test(NAME packages_check_fails_on_each_bad_example
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/packages.py --self-test)
set_tests_properties(packages_check_fails_on_each_bad_example PROPERTIES LABELS unit TIMEOUT 60)
if(CMAKE_GENERATOR STREQUAL "Ninja" AND EXISTS /var/lib/dpkg/info)
  add_test(NAME every_package_that_the_build_reads_is_listed
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/packages.py ${PROJECT_BINARY_DIR})
  set_tests_properties(every_package_that_the_build_reads_is_listed PROPERTIES LABELS unit TIMEOUT 60)
endif()

  add_test(NAME no_document_names_an_option_that_does_not_exist
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/documented_flags.py
      ${PROJECT_SOURCE_DIR} $<TARGET_FILE_DIR:fast_program>)
  set_tests_properties(no_document_names_an_option_that_does_not_exist
    PROPERTIES LABELS unit TIMEOUT 180)

# Modes, codecs and the like: documents that list them list all of the code's.
add_test(NAME lists_check_fails_on_each_bad_example
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/listed_names.py --self-test)
add_test(NAME documents_list_all_modes_codecs_and_topologies
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/listed_names.py
    ${PROJECT_SOURCE_DIR} $<TARGET_FILE_DIR:fast-worker>)
set_tests_properties(lists_check_fails_on_each_bad_example
  documents_list_all_modes_codecs_and_topologies PROPERTIES LABELS unit TIMEOUT 60)

# check_headers: a header that needs another one before it does not compile here. What a source file
# of its own includes, first as include_directions.py demands, has been compiled alone with that
# already; not in adapters/torch, where LibTorch's precompiled headers come before.
file(GLOB_RECURSE headers RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/stencil/*.h ${PROJECT_SOURCE_DIR}/fast/*.h ${PROJECT_SOURCE_DIR}/adapters/*.h)
if(NOT FAST_WITH_TORCH)
  list(FILTER headers EXCLUDE REGEX "^adapters/torch/")
endif()
set(units)
foreach(header ${headers})
  string(REGEX REPLACE "h$" "cc" source ${PROJECT_SOURCE_DIR}/${header})
  set(first)
  if(EXISTS ${source} AND NOT header MATCHES "^adapters/torch/")
    file(STRINGS ${source} first REGEX "^#include" LIMIT_COUNT 1)
  endif()
  if(first STREQUAL "#include \"${header}\"")
    continue()
  endif()
  string(REPLACE "/" "__" unit ${header})
  set(unit ${CMAKE_CURRENT_BINARY_DIR}/headers/${unit}.cc)
  if(NOT EXISTS ${unit})
    file(WRITE ${unit} "#include \"${header}\"\n#include \"${header}\"  // and again\n")
  endif()
  list(APPEND units ${unit})
endforeach()
if(units)
  add_library(check_headers OBJECT EXCLUDE_FROM_ALL ${units})
  target_link_libraries(check_headers PRIVATE ${libraries} CLI11::CLI11
    nlohmann_json::nlohmann_json tomlplusplus::tomlplusplus)
  set_target_properties(check_headers PROPERTIES UNITY_BUILD OFF)  # each alone
  fast_warnings(check_headers)
  target_compile_options(check_headers PRIVATE -O0)
endif()
