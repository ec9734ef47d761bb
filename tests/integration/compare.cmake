if(TARGET compare)
  fast_test(compare_real_test SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/integration/compare_real_test.cc
    LINK compare fast_test_faults fast_cifar_files LABELS integration slow TIMEOUT 300 ONE_CORE)
  target_compile_definitions(compare_real_test PRIVATE
    FAST_COMPARE="$<TARGET_FILE:fast-compare>")
  add_dependencies(compare_real_test fast-compare)
endif()
