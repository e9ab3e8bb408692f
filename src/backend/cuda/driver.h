/* backend/cuda/driver.h: the functions used from NVIDIA's driver, looked up at run time.
 *
 * libcuda.so.1 comes with the driver and most machines lack it, so nothing links with it. */
#ifndef TN_BACKEND_CUDA_DRIVER_H
#define TN_BACKEND_CUDA_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tn_cu_context *tn_cu_context;
typedef struct tn_cu_module *tn_cu_module;
typedef struct tn_cu_function *tn_cu_function;
typedef struct tn_cu_stream *tn_cu_stream;
typedef struct tn_cu_graph *tn_cu_graph;
typedef struct tn_cu_node *tn_cu_node;         /* of a graph */
typedef struct tn_cu_program *tn_cu_program;   /* a graph that can be launched */
typedef unsigned long long tn_cu_pointer;   /* into the card's memory */

/* name, symbol in libcuda, arguments; each returns 0 or an error number */
#define TN_CU_FUNCTIONS(X)                                                                                  \
  X(init, "cuInit", unsigned flags)                                                                         \
  X(error_text, "cuGetErrorString", int error, const char **text)                                           \
  X(driver_version, "cuDriverGetVersion", int *version)                                                     \
  X(device_count, "cuDeviceGetCount", int *count)                                                           \
  X(device, "cuDeviceGet", int *device, int index)                                                          \
  X(device_name, "cuDeviceGetName", char *name, int bytes, int device)                                      \
  X(device_memory, "cuDeviceTotalMem_v2", size_t *bytes, int device)                                        \
  X(device_attribute, "cuDeviceGetAttribute", int *value, int attribute, int device)                        \
  X(context_retain, "cuDevicePrimaryCtxRetain", tn_cu_context *context, int device)                         \
  X(context_release, "cuDevicePrimaryCtxRelease_v2", int device)                                            \
  X(context_set, "cuCtxSetCurrent", tn_cu_context context)                                                  \
  X(module_load, "cuModuleLoadData", tn_cu_module *module, const void *text)                                \
  X(module_unload, "cuModuleUnload", tn_cu_module module)                                                   \
  X(module_function, "cuModuleGetFunction", tn_cu_function *function, tn_cu_module module, const char *name) \
  X(function_set, "cuFuncSetAttribute", tn_cu_function function, int attribute, int value)                   \
  X(stream_create, "cuStreamCreate", tn_cu_stream *stream, unsigned flags)                                  \
  X(stream_destroy, "cuStreamDestroy_v2", tn_cu_stream stream)                                              \
  X(stream_synchronize, "cuStreamSynchronize", tn_cu_stream stream)                                         \
  X(allocate, "cuMemAlloc_v2", tn_cu_pointer *pointer, size_t bytes)                                        \
  X(release, "cuMemFree_v2", tn_cu_pointer pointer)                                                         \
  X(memory_left, "cuMemGetInfo_v2", size_t *left, size_t *all)                                              \
  X(put, "cuMemcpyHtoDAsync_v2", tn_cu_pointer to, const void *from, size_t bytes, tn_cu_stream stream)     \
  X(get, "cuMemcpyDtoHAsync_v2", void *to, tn_cu_pointer from, size_t bytes, tn_cu_stream stream)           \
  X(copy, "cuMemcpyDtoDAsync_v2", tn_cu_pointer to, tn_cu_pointer from, size_t bytes, tn_cu_stream stream)  \
  X(host_allocate, "cuMemHostAlloc", void **memory, size_t bytes, unsigned flags)                           \
  X(host_release, "cuMemFreeHost", void *memory)                                                            \
  X(stream_query, "cuStreamQuery", tn_cu_stream stream)                                                     \
  X(capture_begin, "cuStreamBeginCapture_v2", tn_cu_stream stream, int mode)                                \
  X(capture_end, "cuStreamEndCapture", tn_cu_stream stream, tn_cu_graph *graph)                             \
  X(capture_state, "cuStreamGetCaptureInfo_v2", tn_cu_stream stream, int *status, uint64_t *id,             \
    tn_cu_graph *graph, const tn_cu_node **nodes, size_t *count)                                            \
  X(capture_after, "cuStreamUpdateCaptureDependencies", tn_cu_stream stream, tn_cu_node *nodes,             \
    size_t count, unsigned flags)                                                                           \
  X(graph_prepare, "cuGraphInstantiateWithFlags", tn_cu_program *program, tn_cu_graph graph,                \
    unsigned long long flags)                                                                               \
  X(graph_destroy, "cuGraphDestroy", tn_cu_graph graph)                                                     \
  X(program_launch, "cuGraphLaunch", tn_cu_program program, tn_cu_stream stream)                            \
  X(program_destroy, "cuGraphExecDestroy", tn_cu_program program)                                           \
  X(clear, "cuMemsetD8Async", tn_cu_pointer to, unsigned char byte, size_t bytes, tn_cu_stream stream)      \
  X(launch, "cuLaunchKernel", tn_cu_function function, unsigned blocks, unsigned blocks_y,                  \
    unsigned blocks_z, unsigned threads, unsigned threads_y, unsigned threads_z, unsigned shared,           \
    tn_cu_stream stream, void **arguments, void **extra)

#define TN_CU_OUT_OF_MEMORY 2
#define TN_CU_NOT_FOUND 500        /* a module has no such kernel */
#define TN_CU_NOT_READY 600        /* the stream is still busy */
#define TN_CU_CAPTURE_RELAXED 2    /* for capture_begin: other calls may continue meanwhile */
#define TN_CU_CAPTURE_SET 1        /* for capture_after: replaces the dependencies */
#define TN_CU_ROOM 8               /* for function_set: the limit of shared memory per launch */
#define TN_CU_SHARED_PART 9        /* for function_set: percent of the L1 cache used as shared memory */
#define TN_CU_ROOM_AT_ONCE (48 << 10)   /* of static and dynamic shared memory, allowed without TN_CU_ROOM */
#define TN_CU_CAPABILITY_MAJOR 75   /* attributes of a device */
#define TN_CU_CAPABILITY_MINOR 76
#define TN_CU_MULTIPROCESSORS 16
#define TN_CU_MULTIPROCESSOR_ROOM 81   /* bytes of shared memory */

typedef struct {
#define TN_CU_POINTER(name, symbol, ...) int (*name)(__VA_ARGS__);
  TN_CU_FUNCTIONS(TN_CU_POINTER)
#undef TN_CU_POINTER
} tn_cu;

/* Loads and initialises the driver. False with *why, which stays valid: it is missing or refuses. */
bool tn_cu_open(tn_cu *cu, const char **why);
/* The driver's text for an error. */
const char *tn_cu_error(const tn_cu *cu, int error);
#endif
