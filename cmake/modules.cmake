# One static library per room of the house, so that each builds and is tested
# alone. A room whose folder has no source yet is no target, and whoever names
# it among its needs simply does without.

# tn_module(NAME DIR [needed modules...]): a library tn_NAME of every .c file in
# src/DIR. Needs may be declared before or after; cycles are not wanted, and
# tools/check_layers.sh sees to that.
function(tn_module name dir)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${dir}/*.c)
  if(NOT sources)
    return()
  endif()
  add_library(tn_${name} STATIC ${sources})
  target_link_libraries(tn_${name} PUBLIC tern_flags)
  foreach(needed ${ARGN})
    target_link_libraries(tn_${name} PUBLIC $<TARGET_NAME_IF_EXISTS:tn_${needed}>)
  endforeach()
  set_property(GLOBAL APPEND PROPERTY TN_MODULES tn_${name})
endfunction()

# tn_use_openmp(TARGET): threads for TARGET, if this build has them. Without
# OpenMP its pragmas are plain comments, which -Wall would complain about.
function(tn_use_openmp target)
  if(TN_OPENMP_FOUND)
    target_link_libraries(${target} PRIVATE OpenMP::OpenMP_C)
  else()
    target_compile_options(${target} PRIVATE -Wno-unknown-pragmas)
  endif()
endfunction()
