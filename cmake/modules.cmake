# One static library per folder of src/, so that each is built and tested alone. A folder without a
# source file has no library, but still passes on its dependencies.

# Where a float silently becomes a double, or the reverse, a bit may change.
set(TN_LIBRARY_WARNINGS -Wdouble-promotion -Wfloat-conversion)

# tn_module(NAME DIR [needed modules...]): a library tn_NAME of every .c file in
# src/DIR. Needs may be declared before or after; cycles are not wanted, and
# tools/check_layers.sh sees to that.
function(tn_module name dir)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${dir}/*.c)
  list(TRANSFORM ARGN PREPEND tn_ OUTPUT_VARIABLE needs)
  if(sources)
    add_library(tn_${name} STATIC ${sources})
    target_link_libraries(tn_${name} PUBLIC tern_flags ${needs})
    target_compile_options(tn_${name} PRIVATE ${TN_LIBRARY_WARNINGS})
    set_property(GLOBAL APPEND PROPERTY TN_MODULES tn_${name})
  else()
    add_library(tn_${name} INTERFACE)
    target_link_libraries(tn_${name} INTERFACE tern_flags ${needs})
  endif()
endfunction()

# tn_program_module(NAME DIR [needed modules...]): the same for a room that the program has beside
# the library.
function(tn_program_module name dir)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${dir}/*.c)
  list(TRANSFORM ARGN PREPEND tn_ OUTPUT_VARIABLE needs)
  add_library(tn_${name} STATIC ${sources})
  target_link_libraries(tn_${name} PUBLIC tern_flags ${needs} tern_static)
  target_compile_options(tn_${name} PRIVATE ${TN_LIBRARY_WARNINGS})
endfunction()

# tn_has_source(NAME VARIABLE): whether the module tn_NAME exists and is a library.
function(tn_has_source name variable)
  set(${variable} OFF PARENT_SCOPE)
  if(TARGET tn_${name})
    get_target_property(type tn_${name} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
      set(${variable} ON PARENT_SCOPE)
    endif()
  endif()
endfunction()

# tn_use_threads(TARGET): base/pool.c has threads, if this build has them.
function(tn_use_threads target)
  if(TN_THREADS_FOUND)
    target_compile_definitions(${target} PUBLIC TN_HAVE_THREADS=1)
    target_link_libraries(${target} PUBLIC Threads::Threads)
  endif()
endfunction()

# tn_use_sqlite(TARGET): the history of runs for TARGET, if this machine has SQLite. It is loaded when it is
# needed (track/store/sqlite.c), so only its header is used here.
function(tn_use_sqlite target)
  find_package(SQLite3 3.37 QUIET)   # STRICT tables
  if(SQLite3_FOUND)
    target_compile_definitions(${target} PRIVATE TN_HAVE_SQLITE=1)
    target_include_directories(${target} PRIVATE ${SQLite3_INCLUDE_DIRS})
    find_package(Threads REQUIRED)
    target_link_libraries(${target} PUBLIC ${CMAKE_DL_LIBS} ${CMAKE_THREAD_LIBS_INIT})
  else()
    message(STATUS "SQLite not found: training runs are not recorded")
  endif()
endfunction()

# tn_mpi_module(DIR): libtern_mpi.so, which the program loads when mpirun or srun has started it, if this
# machine has Open MPI. It has its own copy of what it needs, since the program exports nothing.
function(tn_mpi_module dir)
  if(CMAKE_CROSSCOMPILING)
    return()
  endif()
  find_package(MPI QUIET COMPONENTS C)
  if(NOT MPI_C_FOUND)
    message(STATUS "Open MPI not found: tern does not train under mpirun or srun")
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${dir}/*.c)
  add_library(tern_mpi MODULE ${sources})
  target_link_libraries(tern_mpi PRIVATE tern_flags tn_cluster MPI::MPI_C)
  target_compile_options(tern_mpi PRIVATE ${TN_LIBRARY_WARNINGS} -fvisibility=hidden)
  set_target_properties(tern_mpi PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  add_dependencies(product tern_mpi)
  install(TARGETS tern_mpi LIBRARY DESTINATION lib/tern)
endfunction()

# tn_use_microhttpd(TARGET): a web server for TARGET, if this machine has libmicrohttpd. It is loaded when it
# is needed (board/http.h), so only its header is used here.
function(tn_use_microhttpd target)
  find_path(TN_MICROHTTPD_INCLUDE microhttpd.h)
  if(TN_MICROHTTPD_INCLUDE)
    target_compile_definitions(${target} PRIVATE TN_HAVE_MICROHTTPD=1)
    find_package(Threads REQUIRED)
    target_link_libraries(${target} PUBLIC ${CMAKE_DL_LIBS} ${CMAKE_THREAD_LIBS_INIT})
  else()
    message(STATUS "libmicrohttpd not found: there is no tern board")
  endif()
endfunction()
