set(TN_CROSS_MACHINE s390x)
include(${CMAKE_CURRENT_LIST_DIR}/cross_linux.cmake)
