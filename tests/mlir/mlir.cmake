# What tern emits as MLIR, judged by the tools of MLIR 19.
find_program(TN_MLIR_OPT NAMES mlir-opt-19)
find_program(TN_MLIR_RUNNER NAMES mlir-cpu-runner-19)
find_file(TN_MLIR_RUNTIME NAMES libmlir_c_runner_utils.so libmlir_c_runner_utils.so.19.1
  PATHS /usr/lib/llvm-19/lib)
if(NOT (TN_MLIR_OPT AND TN_MLIR_RUNNER AND TN_MLIR_RUNTIME))
  if(TN_REQUIRE_TESTS)
    message(FATAL_ERROR
      "the tools of MLIR 19 not found; `make test` installs them, or run tools/setup.sh test")
  endif()
  message(STATUS "the tools of MLIR 19 not found: tests that need them are not built")
  return()
endif()
# The tools judge what is emitted, which sanitizers do not change; cli/emit and fault/emit run with them.
if(NOT TARGET tern OR TN_INSTRUMENTED)
  return()
endif()

# Loaded by the runner, which is no sanitized program.
add_library(mlir_put MODULE ${CMAKE_CURRENT_LIST_DIR}/put.c)
target_compile_options(mlir_put PRIVATE -fno-sanitize=all)
target_link_libraries(mlir_put PRIVATE -fno-sanitize=all -Wl,--no-as-needed m)
set_target_properties(mlir_put PROPERTIES C_STANDARD 17)

add_executable(mlirtest ${CMAKE_CURRENT_LIST_DIR}/mlirtest.c
  ${PROJECT_SOURCE_DIR}/tests/runner/value.c ${PROJECT_SOURCE_DIR}/tests/runner/run.c)
target_include_directories(mlirtest PRIVATE ${PROJECT_SOURCE_DIR}/tests)
target_link_libraries(mlirtest PRIVATE tern_flags tn_base)

set(common --tern $<TARGET_FILE:tern> --opt ${TN_MLIR_OPT})
set(runner --runner ${TN_MLIR_RUNNER} --libraries $<TARGET_FILE:mlir_put>,${TN_MLIR_RUNTIME})
add_test(NAME mlir/execute COMMAND mlirtest ${common} ${runner} --run ${CMAKE_CURRENT_LIST_DIR})
set_tests_properties(mlir/execute PROPERTIES TIMEOUT ${TN_TEST_TIMEOUT})

# One graph for each operation: executed, or refused.
if(TARGET test_table)
  add_test(NAME mlir/operations COMMAND mlirtest ${common} ${runner} --accept ${TN_OPERATION_GRAPHS})
  set_tests_properties(mlir/operations PROPERTIES TIMEOUT ${TN_TEST_TIMEOUT}
    FIXTURES_REQUIRED operation_graphs)
endif()

# Every program there is: accepted, and executed where it takes no arguments.
foreach(folder tests/mind examples/mind tests/ail examples/ail tests/ninth examples/ninth)
  if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/${folder})
    string(REPLACE "/" "_" name ${folder})
    set(also "")
    if(folder MATCHES "mind$")
      set(also ${runner})
    endif()
    add_test(NAME mlir/accept_${name}
      COMMAND mlirtest ${common} ${also} --accept ${PROJECT_SOURCE_DIR}/${folder})
    set_tests_properties(mlir/accept_${name} PROPERTIES TIMEOUT ${TN_TEST_TIMEOUT})
    if(folder STREQUAL "examples/ninth")   # whole trainings, written down step by step
      set_tests_properties(mlir/accept_${name} PROPERTIES LABELS slow)
    endif()
  endif()
endforeach()
