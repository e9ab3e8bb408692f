# What leaves the house: libtern.a, libtern.so, tern.h, tern.pc and the program.

# tn_library(): both libraries, of the objects of every module there is.
function(tn_library)
  get_property(modules GLOBAL PROPERTY TN_MODULES)
  set(objects "")
  foreach(module ${modules})
    list(APPEND objects $<TARGET_OBJECTS:${module}>)
  endforeach()
  if(NOT objects)
    return()
  endif()
  foreach(kind STATIC SHARED)
    string(TOLOWER ${kind} suffix)
    set(library tern_${suffix})
    add_library(${library} ${kind} ${objects})
    set_target_properties(${library} PROPERTIES
      OUTPUT_NAME tern LINKER_LANGUAGE C
      VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
      ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
    target_include_directories(${library} INTERFACE ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(${library} PRIVATE m)
    tn_use_openmp(${library})
    add_dependencies(product ${library})
  endforeach()
  # A sanitizer's runtime comes with the program, so only a plain build can promise this.
  if(NOT TN_SANITIZE)
    target_link_options(tern_shared PRIVATE -Wl,--no-undefined)
  endif()

  set(TN_PC_PRIVATE "-lm")
  if(TN_OPENMP_FOUND)
    string(APPEND TN_PC_PRIVATE " ${OpenMP_C_FLAGS}")
  endif()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/tern.pc.in ${PROJECT_BINARY_DIR}/tern.pc @ONLY)
  install(TARGETS tern_static tern_shared)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tern DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.h")
  install(FILES ${PROJECT_BINARY_DIR}/tern.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

# tn_program(): the program tern, of src/cli, at the top of the build folder.
function(tn_program)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cli/*.c)
  if(NOT sources OR NOT TARGET tern_static)
    return()
  endif()
  add_executable(tern ${sources})
  target_link_libraries(tern PRIVATE tern_flags tern_static)
  find_path(TN_EDITLINE_INCLUDE editline/readline.h)
  find_library(TN_EDITLINE_LIBRARY edit)
  if(TN_EDITLINE_INCLUDE AND TN_EDITLINE_LIBRARY)
    target_compile_definitions(tern PRIVATE TN_HAVE_EDITLINE=1)
    target_link_libraries(tern PRIVATE ${TN_EDITLINE_LIBRARY})
  else()
    message(STATUS "libedit not found: tern repl reads plain lines")
  endif()
  set_target_properties(tern PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  add_dependencies(product tern)
  install(TARGETS tern)
endfunction()

# tn_examples(): one program per file in examples/c, built as an embedder would:
# tern.h and the library, none of our include paths.
function(tn_examples)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/c/*.c)
  foreach(source ${sources})
    get_filename_component(name ${source} NAME_WE)
    add_executable(example_${name} ${source})
    target_compile_options(example_${name} PRIVATE -Wall -Wextra -Wpedantic -Werror)
    target_link_libraries(example_${name} PRIVATE tern_static)
    set_target_properties(example_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
  endforeach()
endfunction()
