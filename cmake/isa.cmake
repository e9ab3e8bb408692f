# Kernels are compiled once per instruction set and chosen at run time.
#
# A file in src/backend/cpu/isa/ is compiled several times, each time with
# -DTN_ISA=<name>, a bare token that it pastes into its symbol names, and with
# exactly one of TN_ISA_AVX512, TN_ISA_AVX2, TN_ISA_BASELINE, TN_ISA_NEON,
# TN_ISA_PORTABLE defined as 1. The portable variant is always there: generic C
# with the exact software fma, selected by TERN_ISA=portable, so that every
# machine can run the code of every other.

include(CheckCCompilerFlag)

set(TN_ISAS portable)
set(TN_ISA_FLAGS_portable "")
if(NOT TN_PORTABLE AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  list(APPEND TN_ISAS baseline)
  set(TN_ISA_FLAGS_baseline "")
  check_c_compiler_flag("-mavx2 -mfma" TN_COMPILER_HAS_AVX2)
  if(TN_COMPILER_HAS_AVX2)
    list(APPEND TN_ISAS avx2)
    set(TN_ISA_FLAGS_avx2 -mavx2 -mfma)
  endif()
  check_c_compiler_flag("-mavx512f -mavx512dq -mavx512bw -mavx512vl" TN_COMPILER_HAS_AVX512)
  if(TN_COMPILER_HAS_AVX512)
    list(APPEND TN_ISAS avx512)
    set(TN_ISA_FLAGS_avx512 -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma -mavx2
      -mprefer-vector-width=512)
  endif()
elseif(NOT TN_PORTABLE AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  list(APPEND TN_ISAS neon)
  set(TN_ISA_FLAGS_neon "")
elseif(NOT TN_PORTABLE)
  list(APPEND TN_ISAS baseline)   # the compiler's own vectors
  set(TN_ISA_FLAGS_baseline "")
endif()

# Sanitizers make kernels slow to compile; there the widest and the portable ones stand for all.
option(TN_FEW_ISAS "Leave out instruction sets between the portable and the widest" OFF)
if(TN_FEW_ISAS AND avx512 IN_LIST TN_ISAS)
  list(REMOVE_ITEM TN_ISAS baseline avx2)
endif()

# tn_isa_sources(TARGET file...): adds each file to TARGET once per instruction
# set. TARGET itself learns which variants exist: TN_HAVE_AVX2 and the like are 0 or 1.
function(tn_isa_sources target)
  foreach(isa avx512 avx2 baseline neon portable)
    string(TOUPPER ${isa} upper)
    if(isa IN_LIST TN_ISAS)
      target_compile_definitions(${target} PRIVATE TN_HAVE_${upper}=1)
    else()
      target_compile_definitions(${target} PRIVATE TN_HAVE_${upper}=0)
    endif()
  endforeach()
  if(NOT ARGN)
    return()
  endif()
  foreach(isa ${TN_ISAS})
    string(TOUPPER ${isa} upper)
    set(variant ${target}_${isa})
    add_library(${variant} OBJECT ${ARGN})
    target_link_libraries(${variant} PRIVATE tern_flags)
    target_compile_definitions(${variant} PRIVATE TN_ISA=${isa} TN_ISA_${upper}=1)
    # `omp simd` is a wish: below -O2 and with sanitizers clang says that it could not be granted.
    target_compile_options(${variant} PRIVATE
      ${TN_ISA_FLAGS_${isa}} ${TN_LIBRARY_WARNINGS} $<$<CONFIG:Release>:-O3>
      $<$<C_COMPILER_ID:Clang>:-Wno-pass-failed>)
    # Checks of undefined behaviour make unrolled vector code minutes slow to compile; the
    # portable variant is the same source and has them.
    if(TN_SANITIZE MATCHES "undefined" AND NOT isa STREQUAL "portable")
      target_compile_options(${variant} PRIVATE -fno-sanitize=undefined)
    endif()
    # One call for each access instead of inlined checks takes half the time to compile and reports the same.
    # Where a pointer wraps or is NULL, the address sanitizer sees the access.
    if(TN_SANITIZE MATCHES "address" AND CMAKE_C_COMPILER_ID STREQUAL "Clang")
      target_compile_options(${variant} PRIVATE -fno-sanitize=null,object-size,pointer-overflow
        "SHELL:-mllvm -asan-instrumentation-with-call-threshold=0")
    endif()
    # Which branch a kernel takes tells the search nothing that its operation did not.
    if(TN_FUZZ)
      target_compile_options(${variant} PRIVATE -fno-sanitize=undefined,fuzzer-no-link)
    endif()
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${variant}>)
    set_property(GLOBAL APPEND PROPERTY TN_MODULES ${variant})
  endforeach()
endfunction()
