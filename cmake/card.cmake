# Kernels of NVIDIA GPUs: PTX of every file of src/backend/cuda/kernels/, by clang-19, as part of the
# library. No SDK is needed. Without clang-19 the library has no GPU kernels, and says so.

find_program(TN_CARD_CLANG clang-19)
set(TN_CARD_FLAGS --target=nvptx64-nvidia-cuda -march=sm_80 -nogpulib -nostdinc -std=c17 -O2
  -ffp-contract=off)

# What kernels share with the CPU: each is compiled once, and a kernel takes what it needs.
set(TN_CARD_SHARED op/scalar tensor/dtype backend/cuda/kernels/remainder base/rng_normal base/rng
  base/elementary base/elementary_f64 base/elementary_quick base/elementary_trig)

# tn_card_kernels(TARGET): adds the kernels to TARGET; TN_HAVE_PTX is 0 or 1 there.
function(tn_card_kernels target)
  if(NOT TN_CARD_CLANG)
    message(STATUS "clang-19 not found: this build has no GPU kernels")
    target_compile_definitions(${target} PRIVATE TN_HAVE_PTX=0)
    return()
  endif()
  execute_process(COMMAND ${TN_CARD_CLANG} -print-resource-dir OUTPUT_VARIABLE resources
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(source ${PROJECT_SOURCE_DIR}/src)
  set(kernels ${source}/backend/cuda/kernels)
  set(to ${CMAKE_CURRENT_BINARY_DIR}/card)
  set(compile ${TN_CARD_CLANG} ${TN_CARD_FLAGS} -isystem ${resources}/include -isystem ${kernels}/libc
    -I${source})
  file(MAKE_DIRECTORY ${to}/shared ${to}/ptx)
  set(link "")
  set(shared "")
  foreach(name ${TN_CARD_SHARED})
    get_filename_component(base ${name} NAME)
    set(out ${to}/shared/${base}.bc)
    add_custom_command(OUTPUT ${out} DEPENDS ${source}/${name}.c DEPFILE ${out}.d VERBATIM
      COMMAND ${compile} -MD -MF ${out}.d -emit-llvm -c -o ${out} ${source}/${name}.c)
    list(APPEND link -Xclang -mlink-builtin-bitcode -Xclang ${out})
    list(APPEND shared ${out})
  endforeach()

  file(GLOB files CONFIGURE_DEPENDS ${kernels}/*.c)
  list(REMOVE_ITEM files ${kernels}/remainder.c)
  set(texts "")
  foreach(file ${files})
    get_filename_component(base ${file} NAME_WE)
    set(out ${to}/ptx/${base}.ptx)
    add_custom_command(OUTPUT ${out} DEPFILE ${out}.d VERBATIM
      DEPENDS ${file} ${shared} ${PROJECT_SOURCE_DIR}/cmake/bounds.cmake
      COMMENT "Compiling ${base} for NVIDIA GPUs"
      COMMAND ${compile} ${link} -Wall -Wextra -MD -MF ${out}.d -MT ${out} -S -o ${to}/${base}.ptx ${file}
      COMMAND ${CMAKE_COMMAND} -DIN=${to}/${base}.ptx -DOUT=${out}
              -P ${PROJECT_SOURCE_DIR}/cmake/bounds.cmake)
    list(APPEND texts ${out})
  endforeach()

  # All of the folder is embedded.
  file(GLOB stale ${to}/ptx/*.ptx)
  list(REMOVE_ITEM stale ${texts})
  if(stale)
    file(REMOVE ${stale})
  endif()

  set(out ${CMAKE_CURRENT_BINARY_DIR}/tn_card_kernels_files.c)
  add_custom_command(OUTPUT ${out} DEPENDS ${texts} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake VERBATIM
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DFOLDER=${to}/ptx -DPATTERN=*.ptx -DSYMBOL=tn_card_kernels
            -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
  target_sources(${target} PRIVATE ${out})
  target_compile_definitions(${target} PRIVATE TN_HAVE_PTX=1)
endfunction()
