set(TN_CROSS_MACHINE riscv64)
include(${CMAKE_CURRENT_LIST_DIR}/cross_linux.cmake)
