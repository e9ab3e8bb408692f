/* bench/gpu_fma.cu: cycles that a multiply-add of a block in registers takes, without any memory: what
 * bounds a matrix product on an NVIDIA GPU. Needs nvcc, and is not part of the build:
 *
 *   nvcc -arch=sm_90 -O3 -o gpu_fma bench/gpu_fma.cu && ./gpu_fma
 *
 * A line for each block and number of warps: cycles per multiply-add of a warp, on one of the four
 * schedulers of a multiprocessor. The hardware can begin one in each cycle. */
#include <cstdio>

#define STEPS 256

template <int M, int N> __global__ void run(long long *cycles, float *sums) {
  float x[M], y[N], sum[M][N] = { { 0 } };
  for (int i = 0; i < M; i++) x[i] = threadIdx.x + i;
  for (int j = 0; j < N; j++) y[j] = threadIdx.x * 3 + j;
  long long begin = clock64();
#pragma unroll 1
  for (int k = 0; k < STEPS; k++) {
#pragma unroll
    for (int i = 0; i < M; i++)
#pragma unroll
      for (int j = 0; j < N; j++) sum[i][j] = __fmaf_rn(x[i], y[j], sum[i][j]);
#pragma unroll
    for (int i = 0; i < M; i++) asm volatile("" : "+f"(x[i]));   /* another step of k */
  }
  long long end = clock64();
  if (threadIdx.x == 0) *cycles = end - begin;
  float total = 0;
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) total += sum[i][j];
  sums[threadIdx.x] = total;
}

template <int M, int N> static void measure() {
  long long *there, cycles;
  float *sums;
  cudaMalloc(&there, sizeof *there);
  cudaMalloc(&sums, 1024 * sizeof *sums);
  for (int warps = 4; warps <= 12; warps += 4) {
    for (int again = 0; again < 2; again++) run<M, N><<<1, warps * 32>>>(there, sums);
    cudaMemcpy(&cycles, there, sizeof cycles, cudaMemcpyDeviceToHost);
    printf("%dx%d, %2d warps: %.2f cycles\n", M, N, warps, (double)cycles / ((double)STEPS * M * N * warps / 4));
  }
}

int main() {
  measure<8, 16>();
  measure<8, 8>();
  measure<8, 4>();
  measure<4, 4>();
  return 0;
}
