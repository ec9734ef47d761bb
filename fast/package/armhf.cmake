set(triplet arm-linux-gnueabihf)
set(processor armv7l)
set(qemu qemu-arm)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
