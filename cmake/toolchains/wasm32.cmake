# WebAssembly with the system interface of WASI, compiled by clang 19 and run by node
# (tools/wasm_run.mjs). Needs clang-19, lld-19, wasi-libc, libclang-rt-19-dev-wasm32.
#
# The linker is called directly: the compiler's driver would run whatever wasm-opt it finds over the
# result. There are no threads, no signals and no shared libraries.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_C_COMPILER clang-19)
set(CMAKE_C_COMPILER_TARGET wasm32-wasi)
set(CMAKE_AR llvm-ar-19)
set(CMAKE_RANLIB llvm-ranlib-19)
set(CMAKE_NM llvm-nm-19)
set(CMAKE_C_FLAGS_INIT "--sysroot=/usr -msimd128")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_C_LINK_EXECUTABLE "wasm-ld-19 -z stack-size=8388608 /usr/lib/wasm32-wasi/crt1-command.o <OBJECTS> \
-o <TARGET> <LINK_LIBRARIES> -L/usr/lib/wasm32-wasi -lm -lc \
/usr/lib/llvm-19/lib/clang/19/lib/wasi/libclang_rt.builtins-wasm32.a")
set(CMAKE_CROSSCOMPILING_EMULATOR node --experimental-wasi-unstable-preview1
  ${CMAKE_CURRENT_LIST_DIR}/../../tools/wasm_run.mjs)
set(CMAKE_FIND_ROOT_PATH /usr/lib/wasm32-wasi)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
