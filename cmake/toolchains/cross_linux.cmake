# What every Linux machine that is only emulated here has in common. A toolchain file sets
# TN_CROSS_MACHINE (as uname -m says it) and includes this one.
#
# Debian's cross compilers bring that machine's C library, which qemu's user emulation is pointed to;
# nothing of this machine's own libraries is found by mistake.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${TN_CROSS_MACHINE})
set(CMAKE_C_COMPILER ${TN_CROSS_MACHINE}-linux-gnu-gcc)
set(CMAKE_FIND_ROOT_PATH /usr/${TN_CROSS_MACHINE}-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${TN_CROSS_MACHINE} -L ${CMAKE_FIND_ROOT_PATH})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
