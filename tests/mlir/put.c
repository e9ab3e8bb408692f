/* mlir/put.c: what compiled MLIR calls to show its results: bits, one number per line. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void put_program(int32_t index);
void put_f32(float x);
void put_f64(double x);
void put_i32(int32_t x);
void put_i64(int64_t x);

void put_program(int32_t index) {
  printf("p %d\n", index);
  fflush(stdout);
}

void put_f32(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  printf("f %08x\n", (unsigned)bits);
}

void put_f64(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  printf("d %016llx\n", (unsigned long long)bits);
}

void put_i32(int32_t x) { printf("i %d\n", x); }
void put_i64(int64_t x) { printf("i %lld\n", (long long)x); }
