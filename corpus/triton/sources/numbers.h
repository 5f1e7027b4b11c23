/* numbers.h: buffers as numbers, whatever their type. */
#ifndef CORPUS_NUMBERS_H
#define CORPUS_NUMBERS_H

#include <heddle_reference.h>
#include <math.h>
#include <stdlib.h>

/* A float of 16 bits or fewer: 1 sign, `exponent` bits, `mantissa` bits. Infinities and NaN do not occur. */
static inline double small_float(uint32_t v, int exponent, int mantissa) {
  int e = (int)(v >> mantissa) & ((1 << exponent) - 1), bias = (1 << (exponent - 1)) - 1;
  uint64_t m = v & ((1u << mantissa) - 1), sign = (uint64_t)(v >> (exponent + mantissa) & 1) << 63;
  uint64_t bits = sign | (uint64_t)(e - bias + 1023) << 52 | m << (52 - mantissa);
  double x;
  if (!e) return ldexp(sign ? -(double)m : (double)m, 1 - bias - mantissa);
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* The nearest one, ties to even. */
static inline uint32_t to_small_float(double x, int exponent, int mantissa) {
  int bias = (1 << (exponent - 1)) - 1, e;
  double magnitude = fabs(x);
  uint32_t sign = (uint32_t)(signbit(x) != 0) << (exponent + mantissa), last = (1u << exponent) - 1;
  if (magnitude == 0) return sign;
  frexp(magnitude, &e); /* magnitude = [1/2, 1) * 2^e */
  e = e - 1 < 1 - bias ? 1 - bias : e - 1;
  uint32_t steps = (uint32_t)nearbyint(ldexp(magnitude, mantissa - e)); /* a carry goes into the exponent */
  uint32_t bits = steps + ((uint32_t)(e + bias - 1) << mantissa);
  return sign | (bits >> mantissa >= last ? last << mantissa : bits);
}

/* A buffer of f32, f16, bf16 or s8 as numbers, to be freed. */
static inline double *numbers_of(const heddle_args *args, const char *name) {
  const heddle_buffer *b = heddle_find(args, name);
  double *x = malloc((b->count ? b->count : 1) * sizeof *x);
  if (!x) args->fail(args, "out of memory");
  int f32 = strcmp(b->type, "f32") == 0, f16 = strcmp(b->type, "f16") == 0,
      bf16 = strcmp(b->type, "bf16") == 0;
  for (uint64_t i = 0; i < b->count; i++)
    x[i] = f32    ? ((const float *)b->data)[i]
           : f16  ? small_float(((const uint16_t *)b->data)[i], 5, 10)
           : bf16 ? small_float(((const uint16_t *)b->data)[i], 8, 7)
                  : ((const int8_t *)b->data)[i];
  return x;
}

/* A result into a buffer of f32, f16 or bf16. */
static inline void put_number(const heddle_buffer *b, int64_t i, double x) {
  if (strcmp(b->type, "f32") == 0)
    ((float *)b->data)[i] = (float)x;
  else if (strcmp(b->type, "f16") == 0)
    ((uint16_t *)b->data)[i] = (uint16_t)to_small_float(x, 5, 10);
  else
    ((uint16_t *)b->data)[i] = (uint16_t)to_small_float(x, 8, 7);
}

#endif
