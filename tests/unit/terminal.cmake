if(CMAKE_CROSSCOMPILING)   # it starts the program
  return()
endif()
tn_unit_test(terminal tern)
if(TARGET test_terminal AND TARGET tern)
  add_dependencies(test_terminal tern)
  target_compile_definitions(test_terminal PRIVATE TN_PROGRAM="$<TARGET_FILE:tern>")
  target_compile_options(test_terminal PRIVATE -U_POSIX_C_SOURCE)
endif()
