set(data_room ${CMAKE_CURRENT_SOURCE_DIR}/unit)
add_library(fast_cifar_files STATIC ${CMAKE_CURRENT_SOURCE_DIR}/support/cifar_files.cc)
target_link_libraries(fast_cifar_files PUBLIC stencil_core PRIVATE ZLIB::ZLIB)
target_compile_options(fast_cifar_files PRIVATE -Wall -Wextra -Werror)

foreach(part dataset cifar10 mnist)
  fast_test(${part}_test SOURCES ${data_room}/${part}_test.cc LINK fast_data fast_cifar_files
            LABELS unit)
endforeach()
foreach(part synthetic partition loader schedule)
  fast_test(${part}_test SOURCES ${data_room}/${part}_test.cc LINK fast_data LABELS unit)
endforeach()
fast_test(cifar10_real_test SOURCES ${data_room}/cifar10_real_test.cc LINK fast_data LABELS data)
