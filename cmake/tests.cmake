# How a test is declared; tests/list.cmake declares the C tests.

option(TN_REQUIRE_TESTS "Fail to configure when a library the tests need is missing" OFF)

# An emulated machine has no cmocka; support/bare/ replaces it.
set(TN_BARE_CMOCKA ${CMAKE_CROSSCOMPILING})

find_library(TN_CMOCKA cmocka)
find_library(TN_MPFR mpfr)
find_library(TN_GMP gmp)
foreach(library CMOCKA MPFR GMP)
  if(NOT TN_${library} AND NOT TN_BARE_CMOCKA)
    string(TOLOWER ${library} name)
    if(TN_REQUIRE_TESTS)
      message(FATAL_ERROR "${name} not found; `make test` installs it, or run tools/setup.sh test")
    endif()
    message(STATUS "${name} not found: tests that need it are not built")
  endif()
endforeach()

# tn_plain(TARGET): compiles TARGET without optimisation, in a quarter of the time. For programs that only
# call what is tested.
function(tn_plain target)
  target_compile_options(${target} PRIVATE -O0)
endfunction()

# tn_test(FOLDER NAME needs... [LINUX] [NATIVE] [FAST] [ALSO files...] [DEFINE definitions...] [IN folder]):
# tests/FOLDER/NAME.c is the cmocka program test_NAME and the CTest test FOLDER/NAME. A need is a
# module of src/, `tern` for the whole library, mpfr or sqlite. LINUX: not built elsewhere. NATIVE: not built
# for an emulated machine: it needs limits of memory and stack, a sandbox, or fork beside threads, which qemu
# does not carry out as a kernel does. FAST: optimised, because it computes much itself, as tests in ops/ and
# slow/ always are. ALSO: further sources, in the same folder. IN: the folder it runs in. Tests in slow/ carry
# the label slow; those in ops/ make less effort in a build that is instrumented.
function(tn_test folder name)
  cmake_parse_arguments(PARSE_ARGV 2 test "LINUX;NATIVE;FAST" "IN" "ALSO;DEFINE")
  if((test_LINUX AND NOT CMAKE_SYSTEM_NAME STREQUAL "Linux") OR (test_NATIVE AND CMAKE_CROSSCOMPILING))
    return()
  endif()
  tn_test_libraries(${folder}/${name} libraries ${test_UNPARSED_ARGUMENTS})
  if(NOT libraries)
    return()
  endif()
  list(TRANSFORM test_ALSO PREPEND ${PROJECT_SOURCE_DIR}/tests/${folder}/)
  add_executable(test_${name} ${PROJECT_SOURCE_DIR}/tests/${folder}/${name}.c ${test_ALSO})
  target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  if(TN_BARE_CMOCKA)
    target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/bare)
  endif()
  target_compile_definitions(test_${name} PRIVATE ${test_DEFINE})
  target_link_libraries(test_${name} PRIVATE ${libraries})
  if(NOT test_FAST AND NOT folder MATCHES "^(ops|slow)$")
    tn_plain(test_${name})
  endif()
  if(NOT test_IN)
    set(test_IN ${CMAKE_CURRENT_BINARY_DIR})
  endif()
  add_test(NAME ${folder}/${name} COMMAND test_${name} WORKING_DIRECTORY ${test_IN})
  set_tests_properties(${folder}/${name} PROPERTIES TIMEOUT ${TN_TEST_TIMEOUT})
  if(folder STREQUAL "slow")
    set_tests_properties(${folder}/${name} PROPERTIES LABELS slow TIMEOUT ${TN_SLOW_TEST_TIMEOUT})
  elseif(folder STREQUAL "ops" AND TN_INSTRUMENTED)
    set_tests_properties(${folder}/${name} PROPERTIES ENVIRONMENT TERN_TEST_EFFORT=small)
  endif()
endfunction()

# tn_test_libraries(TEST VARIABLE needs...): what TEST links with; empty where a library is missing here, or a
# module has no source. In the second case TEST exists and fails: a test that vanishes looks like a pass.
function(tn_test_libraries test variable)
  set(${variable} "" PARENT_SCOPE)
  set(libraries tern_flags)
  if(NOT TN_BARE_CMOCKA)
    if(NOT TN_CMOCKA)
      return()
    endif()
    list(APPEND libraries ${TN_CMOCKA})
  endif()
  foreach(needed ${ARGN})
    if(needed STREQUAL "mpfr")
      if(NOT (TN_MPFR AND TN_GMP))
        return()
      endif()
      list(APPEND libraries ${TN_MPFR} ${TN_GMP})
    elseif(needed STREQUAL "sqlite")
      list(APPEND libraries SQLite::SQLite3)
    elseif(needed STREQUAL "tern")
      list(APPEND libraries tern_static)
    else()
      tn_has_source(${needed} has_source)
      if(NOT has_source)
        message(STATUS "${test} needs the module ${needed}, which has no source")
        add_test(NAME ${test} COMMAND ${CMAKE_COMMAND} -E false)
        return()
      endif()
      list(APPEND libraries tn_${needed})
    endif()
  endforeach()
  set(${variable} ${libraries} PARENT_SCOPE)
endfunction()

# tn_all_declared(FOLDER...): stops unless tests/list.cmake names every .c file of these folders.
function(tn_all_declared)
  file(READ ${PROJECT_SOURCE_DIR}/tests/list.cmake declared)
  foreach(folder ${ARGN})
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${folder}/*.c)
    foreach(source ${sources})
      get_filename_component(name ${source} NAME_WE)
      if(NOT declared MATCHES "[ (]${name}(\\.c)?[ ,)\n]")
        message(FATAL_ERROR "tests/list.cmake does not name tests/${folder}/${name}.c")
      endif()
    endforeach()
  endforeach()
endfunction()

# tn_script_test(NAME SCRIPT arguments...): a shell script, run in the project's root.
function(tn_script_test name script)
  add_test(NAME ${name} COMMAND sh ${script} ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${TN_TEST_TIMEOUT}
    ENVIRONMENT "CC=${CMAKE_C_COMPILER};NM=${CMAKE_NM}")
  if(name MATCHES "^slow/")
    set_tests_properties(${name} PROPERTIES LABELS slow TIMEOUT ${TN_SLOW_TEST_TIMEOUT})
  endif()
endfunction()

# What lets a document's C example say `cc example.c -ltern`.
set(TN_EXAMPLE_ENVIRONMENT
  CPATH=${PROJECT_SOURCE_DIR}/include
  LIBRARY_PATH=${PROJECT_BINARY_DIR}
  LD_LIBRARY_PATH=${PROJECT_BINARY_DIR})

# tn_runner_test(NAME RUNNER PATH): a file or folder for tests/runner/RUNNER; see tests/README.md.
function(tn_runner_test name runner path)
  set(where --tern $<TARGET_FILE:tern> --tests ${PROJECT_SOURCE_DIR}/tests)
  add_test(NAME ${name} COMMAND ${runner} ${where} ${path})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${TN_TEST_TIMEOUT} ENVIRONMENT "${TN_EXAMPLE_ENVIRONMENT}")
  if(name MATCHES "^slow/")
    set_tests_properties(${name} PROPERTIES LABELS slow TIMEOUT ${TN_SLOW_TEST_TIMEOUT})
  endif()
endfunction()

# tn_update_target(FILES FOLDERS): the target test-update, which rewrites what transcripts, documents
# and programs expect, and the pages that tables write.
function(tn_update_target files folders)
  set(common --update --tern $<TARGET_FILE:tern> --tests ${PROJECT_SOURCE_DIR}/tests)
  set(language_command "")
  if(folders)
    set(language_command COMMAND langtest ${common} ${folders})
  endif()
  add_custom_target(test-update VERBATIM USES_TERMINAL
    COMMAND pages --update --tern $<TARGET_FILE:tern> --docs ${PROJECT_SOURCE_DIR}/docs/reference
    COMMAND ${CMAKE_COMMAND} -E env ${TN_EXAMPLE_ENVIRONMENT} $<TARGET_FILE:transcript> ${common} ${files}
    ${language_command})
  add_dependencies(test-update pages transcript langtest tern tern_shared)
endfunction()
