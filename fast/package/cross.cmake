# Builds for another architecture of this Debian's release, by its cross compiler and the libraries in
# FAST_SYSROOT, which tests/sysroot.sh lays; programs of the build run by qemu. Toolchain files of
# architectures include this after they have set `triplet`, `processor` and `qemu`.
if(NOT FAST_SYSROOT)
  set(FAST_SYSROOT $ENV{FAST_SYSROOT})
endif()
if(NOT EXISTS ${FAST_SYSROOT}/usr/lib/${triplet})
  message(FATAL_ERROR "FAST_SYSROOT is '${FAST_SYSROOT}', which holds no libraries of ${triplet}; "
                      "lay them by tests/sysroot.sh and give its folder: -DFAST_SYSROOT=FOLDER")
endif()
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES FAST_SYSROOT)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${processor})
set(CMAKE_C_COMPILER ${triplet}-gcc)
set(CMAKE_CXX_COMPILER ${triplet}-g++)
set(CMAKE_LIBRARY_ARCHITECTURE ${triplet})
set(CMAKE_SYSROOT ${FAST_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)  # protoc and the like are this machine's
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR ${qemu};-L;${FAST_SYSROOT})
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${FAST_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${FAST_SYSROOT}/usr/lib/${triplet}/pkgconfig:${FAST_SYSROOT}/usr/share/pkgconfig)
