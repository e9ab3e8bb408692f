# Flags every file is compiled with, and the options that change them.
#
# The numeric contract forbids contraction everywhere, so -ffp-contract=off is
# not an option but a fact. Builds are reproducible: no path of the machine and
# no date reaches an object file.

option(TN_THREADS "Run kernels on several threads, where the system has them" ON)
option(TN_PORTABLE "Generic C only: no kernels for particular instruction sets" OFF)
set(TN_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize takes them: address,undefined or thread")
option(TN_COVERAGE "Count which branches and conditions are taken (clang-19)" OFF)
set(TN_WERROR OFF CACHE STRING "Warnings are errors: ON, OFF, or AUTO (with compilers tern is tested with)")
set_property(CACHE TN_WERROR PROPERTY STRINGS ON OFF AUTO)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release or Debug" FORCE)
endif()

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)   # every object may end up in libtern.so
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# A warning that a future compiler invents must not stop a user's build, but one
# from a compiler we test with must stop ours. AUTO tells the two apart.
function(tn_decide_werror out)
  set(result ${TN_WERROR})
  if(TN_WERROR STREQUAL "AUTO")
    set(result OFF)
    if((CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_C_COMPILER_VERSION MATCHES "^12\\.")
       OR (CMAKE_C_COMPILER_ID STREQUAL "Clang" AND CMAKE_C_COMPILER_VERSION MATCHES "^(14|19)\\."))
      set(result ON)
    endif()
  endif()
  set(${out} ${result} PARENT_SCOPE)
endfunction()
tn_decide_werror(TN_WERROR_EFFECTIVE)

add_library(tern_flags INTERFACE)
target_include_directories(tern_flags INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(tern_flags INTERFACE _POSIX_C_SOURCE=200809L TN_VERSION="${PROJECT_VERSION}")
target_compile_options(tern_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wvla
  -Wundef -Wpointer-arith -Wwrite-strings -Wdate-time -Wformat=2
  $<$<BOOL:${TN_WERROR_EFFECTIVE}>:-Werror>
  -ffp-contract=off -fno-math-errno -fvisibility=hidden
  -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=
  -ffile-prefix-map=${PROJECT_BINARY_DIR}/=build/)
# IBM Z once computed floats in double, and gcc keeps that up when a standard is named.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "s390x" AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
  target_compile_options(tern_flags INTERFACE -fexcess-precision=fast)
endif()
target_link_libraries(tern_flags INTERFACE m)

if(TN_SANITIZE)
  add_compile_options(-fsanitize=${TN_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TN_SANITIZE})
endif()
if(TN_COVERAGE)
  add_compile_options(-fprofile-instr-generate -fcoverage-mapping -fcoverage-mcdc)
  add_compile_definitions(TN_COVERAGE)
  add_link_options(-fprofile-instr-generate)
endif()
# Such a program does things of its own at its end, and is slow.
set(TN_INSTRUMENTED OFF)
if(TN_SANITIZE OR TN_COVERAGE)
  set(TN_INSTRUMENTED ON)
endif()

set(TN_THREADS_FOUND OFF)
if(TN_THREADS AND NOT TN_PORTABLE)
  find_package(Threads QUIET)
  if(CMAKE_USE_PTHREADS_INIT)
    set(TN_THREADS_FOUND ON)
  else()
    message(STATUS "pthreads not found: kernels run on one thread")
  endif()
endif()
