/* bench/gpu_stream.cu: microseconds that an elementwise kernel takes for 2^27 numbers, by its shape: what bounds
 * them on an NVIDIA GPU, and how to reach it. Needs nvcc, and is not part of the build:
 *
 *   nvcc -arch=sm_90 -O3 -std=c++17 -o gpu_stream bench/gpu_stream.cu && ./gpu_stream
 *
 * A line for each operation and shape. "ends": a thread has its fours of numbers and ends; "goes round": there are
 * as many blocks as fit, and a thread loads its next fours before it computes. The number of fours, of threads in a
 * block, and whether registers are limited so that a multiprocessor holds 2048 threads. relu of one operand, a sum
 * and a quotient of two, and forty multiply-adds, about as long as tanh. The first and last line are the driver's
 * own copy. */
#include <algorithm>
#include <cstdio>
#include <vector>

#define COUNT (1l << 27)
#define SAMPLES 5
#define LAUNCHES 10

enum Operation { RELU, ADD, DIV, LONG };
static const char *const names[] = { "relu", "add", "div", "forty fma" };

__device__ inline float4 read_four(const float4 *from) {
  float4 x;
  asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w) : "l"(from));
  return x;
}

__device__ inline float canonical(float x) { return x != x ? __int_as_float(0x7fc00000) : x; }

template <Operation OF> __device__ inline float result(float x, float y) {
  if (OF == RELU) return canonical(x <= 0 ? 0 : x);
  if (OF == ADD) return canonical(__fadd_rn(x, y));
  if (OF == DIV) return canonical(__fdiv_rn(x, y));
  float sum = y;
#pragma unroll
  for (int k = 0; k < 40; k++) sum = __fmaf_rn(sum, x, 0.5f + k);
  return sum;
}

template <Operation OF> __device__ inline float4 results(float4 x, float4 y) {
  return make_float4(result<OF>(x.x, y.x), result<OF>(x.y, y.y), result<OF>(x.z, y.z), result<OF>(x.w, y.w));
}

template <Operation OF, int THREADS, int FOURS>
__device__ inline void read(const float4 *x, const float4 *y, long first, float4 (&from)[2][FOURS]) {
#pragma unroll
  for (int f = 0; f < FOURS; f++) {
    from[0][f] = read_four(x + first + f * THREADS);
    from[1][f] = OF == ADD || OF == DIV ? read_four(y + first + f * THREADS) : from[0][f];
  }
}

template <Operation OF, int THREADS, int FOURS>
__device__ inline void give(float4 *out, long first, const float4 (&from)[2][FOURS]) {
#pragma unroll
  for (int f = 0; f < FOURS; f++) out[first + f * THREADS] = results<OF>(from[0][f], from[1][f]);
}

template <Operation OF, int THREADS, int FOURS, int BLOCKS>
__global__ void __launch_bounds__(THREADS, BLOCKS) ends(const float4 *x, const float4 *y, float4 *out) {
  long first = (long)blockIdx.x * (THREADS * FOURS) + threadIdx.x;
  float4 from[2][FOURS];
  read<OF, THREADS, FOURS>(x, y, first, from);
  give<OF, THREADS, FOURS>(out, first, from);
}

template <Operation OF, int THREADS, int FOURS, int BLOCKS>
__global__ void __launch_bounds__(THREADS, BLOCKS) goes_round(const float4 *x, const float4 *y, float4 *out) {
  long first = (long)blockIdx.x * (THREADS * FOURS) + threadIdx.x, step = (long)gridDim.x * (THREADS * FOURS);
  float4 from[2][FOURS], next[2][FOURS];
  read<OF, THREADS, FOURS>(x, y, first, from);
#pragma unroll 1
  for (; first < COUNT / 4; first += step) {
    read<OF, THREADS, FOURS>(x, y, first + step < COUNT / 4 ? first + step : first, next);
    give<OF, THREADS, FOURS>(out, first, from);
#pragma unroll
    for (int f = 0; f < FOURS; f++) from[0][f] = next[0][f], from[1][f] = next[1][f];
  }
}

static float *x, *y, *out;
static int multiprocessors;

/* The median of some samples, in microseconds. */
template <class Launch> static void print_time(const char *what, Launch launch) {
  cudaEvent_t begin, end;
  std::vector<float> samples;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  for (int s = 0; s < SAMPLES; s++) {
    float milliseconds;
    cudaEventRecord(begin);
    for (int i = 0; i < LAUNCHES; i++) launch();
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&milliseconds, begin, end);
    samples.push_back(milliseconds * 1000 / LAUNCHES);
  }
  std::sort(samples.begin(), samples.end());
  cudaError_t error = cudaGetLastError();
  printf("%-52s %7.1f %s\n", what, samples[SAMPLES / 2], error ? cudaGetErrorString(error) : "");
  fflush(stdout);
}

template <Operation OF, int THREADS, int FOURS, int BLOCKS> static void measure() {
  const float4 *from = (const float4 *)x, *also = (const float4 *)y;
  const char *limited = BLOCKS > 1 ? ", few registers" : "";
  char what[99];
  int blocks;
  snprintf(what, sizeof what, "%s: %d fours, %d threads%s: ends", names[OF], FOURS, THREADS, limited);
  print_time(what, [=] {
    ends<OF, THREADS, FOURS, BLOCKS><<<COUNT / 4 / (THREADS * FOURS), THREADS>>>(from, also, (float4 *)out);
  });
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, goes_round<OF, THREADS, FOURS, BLOCKS>, THREADS, 0);
  snprintf(what, sizeof what, "%s: %d fours, %d threads%s: goes round", names[OF], FOURS, THREADS, limited);
  print_time(what, [=] {
    goes_round<OF, THREADS, FOURS, BLOCKS><<<multiprocessors * blocks, THREADS>>>(from, also, (float4 *)out);
  });
}

template <Operation OF, int THREADS> static void measure_fours() {
  measure<OF, THREADS, 1, 1>();
  measure<OF, THREADS, 2, 1>();
  measure<OF, THREADS, 4, 1>();
  measure<OF, THREADS, 1, 2048 / THREADS>();
  measure<OF, THREADS, 2, 2048 / THREADS>();
}

template <Operation OF> static void measure_all() {
  measure_fours<OF, 128>();
  measure_fours<OF, 256>();
  measure_fours<OF, 1024>();
}

__global__ void fill(float *to, unsigned seed) {
  for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < COUNT; i += (long)gridDim.x * blockDim.x) {
    unsigned word = ((unsigned)i + seed) * 2654435761u;
    word = (word ^ word >> 15) * 2246822519u;
    to[i] = (word >> 8) * 0x1p-23f - 1;
  }
}

static void copy(void) { cudaMemcpyAsync(out, x, COUNT * sizeof *x, cudaMemcpyDeviceToDevice); }

int main(void) {
  float **all[] = { &x, &y, &out };
  for (float **one : all) {
    if (cudaMalloc(one, COUNT * sizeof **one) != cudaSuccess) return fprintf(stderr, "no GPU with 1.5 GB\n"), 1;
    fill<<<1024, 256>>>(*one, one - *all);
  }
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
  print_time("copy", copy);
  measure_all<RELU>();
  measure_all<ADD>();
  measure_all<DIV>();
  measure_all<LONG>();
  print_time("copy", copy);
}
