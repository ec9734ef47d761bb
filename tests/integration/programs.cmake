if(TARGET fast_program)
  add_library(fast_test_process STATIC ${CMAKE_CURRENT_SOURCE_DIR}/support/process.cc)
  target_include_directories(fast_test_process PUBLIC ${PROJECT_SOURCE_DIR})
  target_compile_options(fast_test_process PRIVATE -Wall -Wextra -Werror)
  foreach(name command_line bad_input train)
    fast_test(${name}_test SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/integration/${name}_test.cc
      LINK fast_test_process fast_cifar_files fast_report nlohmann_json::nlohmann_json LABELS integration
      TIMEOUT 300 ONE_CORE)
    target_compile_definitions(${name}_test PRIVATE
      FAST_PROGRAM="$<TARGET_FILE:fast_program>" FAST_WORKER="$<TARGET_FILE:fast-worker>")
    add_dependencies(${name}_test fast_program fast-worker)
  endforeach()
endif()
