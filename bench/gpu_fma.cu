/* bench/gpu_fma.cu: cycles that a multiply-add of a block in registers takes, by the order of the block: what
 * bounds a matrix product on an NVIDIA GPU. Needs nvcc, and is not part of the build:
 *
 *   nvcc -arch=sm_90 -O3 -o gpu_fma bench/gpu_fma.cu && ./gpu_fma
 *
 * A line for each block, order and number of warps: cycles per multiply-add of a warp, on one of the four
 * schedulers of a multiprocessor, alone and where each step reads its operands from shared memory. The hardware
 * can begin one in each cycle; it reads one even and one odd register in a cycle, and keeps operands of the
 * instruction before. Orders: rows one after the other; to and fro along them; to and fro down columns. */
#include <cstdio>

#define STEPS 256

enum Order { ROWS, ALONG, DOWN };
static const char *const names[] = { "rows", "to and fro along rows", "to and fro down columns" };

/* In the order of the program. */
__device__ inline void multiply_add(float x, float y, float &sum) {
  asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(sum) : "f"(x), "f"(y));
}

__device__ inline void read_four(float *to, unsigned from) {
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3]) : "r"(from));
}

template <int M, int N, Order ORDER>
__device__ inline void step(const float *x, const float *y, float (&sum)[M][N]) {
  if (ORDER == DOWN) {
#pragma unroll
    for (int j = 0; j < N; j++)
#pragma unroll
      for (int i = 0; i < M; i++) {
        int row = j % 2 ? M - 1 - i : i;
        multiply_add(x[row], y[j], sum[row][j]);
      }
  } else {
#pragma unroll
    for (int i = 0; i < M; i++)
#pragma unroll
      for (int j = 0; j < N; j++) {
        int column = ORDER == ALONG && i % 2 ? N - 1 - j : j;
        multiply_add(x[i], y[column], sum[i][column]);
      }
  }
}

template <int M, int N, Order ORDER, bool READS> __global__ void run(long long *cycles, float *sums) {
  __shared__ __align__(16) float near[64];
  float x[2][M], y[2][N], sum[M][N] = { { 0 } };
  for (int i = threadIdx.x; i < 64; i += blockDim.x) near[i] = 0;
  __syncthreads();
  unsigned from = (unsigned)__cvta_generic_to_shared(near) + (threadIdx.x & 1) * 16;
#pragma unroll
  for (int i = 0; i < M; i += 4) read_four(x[0] + i, from + 4 * i);
#pragma unroll
  for (int j = 0; j < N; j += 4) read_four(y[0] + j, from + 4 * j);
  long long begin = clock64();
#pragma unroll 1
  for (int k = 0; k < STEPS; k += 2) {
#pragma unroll
    for (int c = 0; c < 2; c++) {
      if (READS) {
#pragma unroll
        for (int i = 0; i < M; i += 4) read_four(x[1 - c] + i, from + 4 * i);
#pragma unroll
        for (int j = 0; j < N; j += 4) read_four(y[1 - c] + j, from + 4 * j);
      }
      step<M, N, ORDER>(x[READS ? c : 0], y[READS ? c : 0], sum);
    }
  }
  long long end = clock64();
  if (threadIdx.x == 0) *cycles = end - begin;
  float total = 0;
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) total += sum[i][j];
  sums[threadIdx.x] = total;
}

template <int M, int N, Order ORDER, bool READS> static double cycles_of(int warps) {
  static long long *there, cycles;
  static float *sums;
  if (!there) cudaMalloc(&there, sizeof *there), cudaMalloc(&sums, 1024 * sizeof *sums);
  for (int again = 0; again < 2; again++) run<M, N, ORDER, READS><<<1, warps * 32>>>(there, sums);
  cudaMemcpy(&cycles, there, sizeof cycles, cudaMemcpyDeviceToHost);
  return (double)cycles / ((double)STEPS * M * N * warps / 4);
}

template <int M, int N, Order ORDER> static void measure() {
  for (int warps = 4; warps <= 8; warps += 4)
    printf("%2dx%-2d %-24s %d warps: %.2f cycles, %.2f with reads\n", M, N, names[ORDER], warps,
           cycles_of<M, N, ORDER, false>(warps), cycles_of<M, N, ORDER, true>(warps));
}

template <int M, int N> static void measure_orders() {
  measure<M, N, ROWS>();
  measure<M, N, ALONG>();
  measure<M, N, DOWN>();
}

int main() {
  measure_orders<8, 16>();
  measure_orders<8, 8>();
  measure_orders<4, 8>();
  return 0;
}
