/* heddle_cuda.h: the parts of CUDA C that kernels use, for clang without a CUDA toolkit.
 *
 * heddle includes this file in front of a kernel that clang compiles; nvcc has
 * everything here built in. It knows device code only: no host API, no launches.
 *
 * Accuracy: + - * / sqrtf fmaf round correctly. expf exp2f logf log2f log10f sinf cosf tanhf are
 * within 4 units in the last place of the exact value (sinf and cosf for |x| <= 10^5). powf is too
 * while its result lies between 2^-8 and 2^8; from there its error grows with the result's
 * exponent, to about 45 units at the ends of the range.
 */
#ifndef HEDDLE_CUDA_H
#define HEDDLE_CUDA_H
#if !defined(__clang__) || !defined(__CUDA__)
#error "heddle_cuda.h is for clang in CUDA mode"
#endif

/* ---- Qualifiers ---------------------------------------------------------- */

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define HEDDLE_FN static __device__ inline __attribute__((always_inline))

typedef __SIZE_TYPE__ size_t;

/* ---- Vector types -------------------------------------------------------- */

/* NAME2 NAME3 NAME4 of T with make_NAMEn; n elements that load as one vector are
 * aligned to their size, at most 16 bytes. */
#define HEDDLE_VECTORS(T, name, a2, a4)                                                                      \
  struct name##1 {                                                                                           \
    T x;                                                                                                     \
  };                                                                                                         \
  struct __align__(a2) name##2 {                                                                             \
    T x, y;                                                                                                  \
  };                                                                                                         \
  struct name##3 {                                                                                           \
    T x, y, z;                                                                                               \
  };                                                                                                         \
  struct __align__(a4) name##4 {                                                                             \
    T x, y, z, w;                                                                                            \
  };                                                                                                         \
  static __host__ __device__ inline name##1 make_##name##1(T x) { return {x}; }                              \
  static __host__ __device__ inline name##2 make_##name##2(T x, T y) { return {x, y}; }                      \
  static __host__ __device__ inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }              \
  static __host__ __device__ inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

HEDDLE_VECTORS(signed char, char, 2, 4)
HEDDLE_VECTORS(unsigned char, uchar, 2, 4)
HEDDLE_VECTORS(short, short, 4, 8)
HEDDLE_VECTORS(unsigned short, ushort, 4, 8)
HEDDLE_VECTORS(int, int, 8, 16)
HEDDLE_VECTORS(unsigned int, uint, 8, 16)
HEDDLE_VECTORS(long long, longlong, 16, 16)
HEDDLE_VECTORS(unsigned long long, ulonglong, 16, 16)
HEDDLE_VECTORS(float, float, 8, 16)
HEDDLE_VECTORS(double, double, 16, 16)
#undef HEDDLE_VECTORS

struct dim3 {
  unsigned x, y, z;
  __host__ __device__ constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1)
      : x(x_), y(y_), z(z_) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
};

/* ---- Ids ----------------------------------------------------------------- */

/* Members are properties: reading threadIdx.x reads %tid.x, and no object exists. */
#define HEDDLE_SREG3(object, sreg, result)                                                                   \
  struct heddle_##object {                                                                                   \
    __declspec(property(get = get_x)) unsigned x;                                                            \
    __declspec(property(get = get_y)) unsigned y;                                                            \
    __declspec(property(get = get_z)) unsigned z;                                                            \
    static __device__ inline unsigned get_x() { return (unsigned)__nvvm_read_ptx_sreg_##sreg##_x(); }        \
    static __device__ inline unsigned get_y() { return (unsigned)__nvvm_read_ptx_sreg_##sreg##_y(); }        \
    static __device__ inline unsigned get_z() { return (unsigned)__nvvm_read_ptx_sreg_##sreg##_z(); }        \
    __device__ operator result() const { return {get_x(), get_y(), get_z()}; }                               \
  };                                                                                                         \
  extern const __device__ __attribute__((weak)) heddle_##object object;
HEDDLE_SREG3(threadIdx, tid, uint3)
HEDDLE_SREG3(blockIdx, ctaid, uint3)
HEDDLE_SREG3(blockDim, ntid, dim3)
HEDDLE_SREG3(gridDim, nctaid, dim3)
#undef HEDDLE_SREG3
static constexpr int warpSize = 32;

/* ---- Barriers, fences, votes, shuffles ----------------------------------- */

/* Written as instructions: clang's builtins for them depend on a PTX version that it
 * only assumes when it finds a toolkit. */
HEDDLE_FN void __syncwarp(unsigned mask = 0xffffffffu) {
  asm volatile("bar.warp.sync %0;" ::"r"(mask) : "memory");
}
HEDDLE_FN int __syncthreads_count(int p) { return __nvvm_bar0_popc(p); }
HEDDLE_FN int __syncthreads_and(int p) { return __nvvm_bar0_and(p); }
HEDDLE_FN int __syncthreads_or(int p) { return __nvvm_bar0_or(p); }
HEDDLE_FN void __threadfence_block() { __nvvm_membar_cta(); }
HEDDLE_FN void __threadfence() { __nvvm_membar_gl(); }
HEDDLE_FN void __threadfence_system() { __nvvm_membar_sys(); }

#define HEDDLE_VOTE(name, mode)                                                                              \
  HEDDLE_FN int name(unsigned mask, int p) {                                                                 \
    int r;                                                                                                   \
    asm volatile("{ .reg .pred p, q;\n\tsetp.ne.s32 p, %1, 0;\n\t"                                           \
                 "vote.sync." mode ".pred q, p, %2;\n\tselp.s32 %0, 1, 0, q; }"                              \
                 : "=r"(r)                                                                                   \
                 : "r"(p), "r"(mask));                                                                       \
    return r;                                                                                                \
  }
HEDDLE_VOTE(__any_sync, "any")
HEDDLE_VOTE(__all_sync, "all")
#undef HEDDLE_VOTE
HEDDLE_FN unsigned __ballot_sync(unsigned mask, int p) {
  unsigned r;
  asm volatile("{ .reg .pred p;\n\tsetp.ne.s32 p, %1, 0;\n\tvote.sync.ballot.b32 %0, p, %2; }"
               : "=r"(r)
               : "r"(p), "r"(mask));
  return r;
}
HEDDLE_FN unsigned __activemask() {
  unsigned m;
  asm volatile("activemask.b32 %0;" : "=r"(m));
  return m;
}

/* The instruction's third operand: bits 8..12 keep segments of `width` lanes apart,
 * bits 0..4 bound the source lane. */
#define HEDDLE_SHFL(name, mode, bound, lane_type)                                                            \
  HEDDLE_FN unsigned name(unsigned mask, unsigned v, lane_type lane, int width = 32) {                       \
    unsigned r;                                                                                              \
    asm volatile("shfl.sync." mode ".b32 %0, %1, %2, %3, %4;"                                                \
                 : "=r"(r)                                                                                   \
                 : "r"(v), "r"(lane), "r"(((32 - width) << 8) | bound), "r"(mask));                          \
    return r;                                                                                                \
  }                                                                                                          \
  HEDDLE_FN int name(unsigned mask, int v, lane_type lane, int width = 32) {                                 \
    return (int)name(mask, (unsigned)v, lane, width);                                                        \
  }                                                                                                          \
  HEDDLE_FN float name(unsigned mask, float v, lane_type lane, int width = 32) {                             \
    return __builtin_bit_cast(float, name(mask, __builtin_bit_cast(unsigned, v), lane, width));              \
  }                                                                                                          \
  HEDDLE_FN unsigned long long name(unsigned mask, unsigned long long v, lane_type lane, int width = 32) {   \
    unsigned lo = name(mask, (unsigned)v, lane, width);                                                      \
    unsigned hi = name(mask, (unsigned)(v >> 32), lane, width);                                              \
    return (unsigned long long)hi << 32 | lo;                                                                \
  }                                                                                                          \
  HEDDLE_FN long long name(unsigned mask, long long v, lane_type lane, int width = 32) {                     \
    return (long long)name(mask, (unsigned long long)v, lane, width);                                        \
  }                                                                                                          \
  HEDDLE_FN double name(unsigned mask, double v, lane_type lane, int width = 32) {                           \
    return __builtin_bit_cast(double, name(mask, __builtin_bit_cast(unsigned long long, v), lane, width));   \
  }
HEDDLE_SHFL(__shfl_sync, "idx", 0x1f, int)
HEDDLE_SHFL(__shfl_up_sync, "up", 0, unsigned)
HEDDLE_SHFL(__shfl_down_sync, "down", 0x1f, unsigned)
HEDDLE_SHFL(__shfl_xor_sync, "bfly", 0x1f, int)
#undef HEDDLE_SHFL

/* ---- Loads through the read-only path ------------------------------------ */

typedef int heddle_v4i __attribute__((ext_vector_type(4)));
typedef int heddle_v2i __attribute__((ext_vector_type(2)));
typedef float heddle_v4f __attribute__((ext_vector_type(4)));
typedef float heddle_v2f __attribute__((ext_vector_type(2)));
typedef double heddle_v2d __attribute__((ext_vector_type(2)));
typedef unsigned char heddle_v4c __attribute__((ext_vector_type(4)));

HEDDLE_FN signed char __ldg(const signed char *p) { return (signed char)__nvvm_ldg_c((const char *)p); }
HEDDLE_FN unsigned char __ldg(const unsigned char *p) { return __nvvm_ldg_uc(p); }
HEDDLE_FN short __ldg(const short *p) { return __nvvm_ldg_s(p); }
HEDDLE_FN unsigned short __ldg(const unsigned short *p) { return __nvvm_ldg_us(p); }
HEDDLE_FN int __ldg(const int *p) { return __nvvm_ldg_i(p); }
HEDDLE_FN unsigned __ldg(const unsigned *p) { return __nvvm_ldg_ui(p); }
HEDDLE_FN long long __ldg(const long long *p) { return __nvvm_ldg_ll(p); }
HEDDLE_FN unsigned long long __ldg(const unsigned long long *p) { return __nvvm_ldg_ull(p); }
HEDDLE_FN float __ldg(const float *p) { return __nvvm_ldg_f(p); }
HEDDLE_FN double __ldg(const double *p) { return __nvvm_ldg_d(p); }
#define HEDDLE_LDG(type, vector, builtin)                                                                    \
  HEDDLE_FN type __ldg(const type *p) {                                                                      \
    return __builtin_bit_cast(type, __nvvm_ldg_##builtin((const vector *)p));                                \
  }
HEDDLE_LDG(int2, heddle_v2i, i2)
HEDDLE_LDG(int4, heddle_v4i, i4)
HEDDLE_LDG(uint2, heddle_v2i, i2)
HEDDLE_LDG(uint4, heddle_v4i, i4)
HEDDLE_LDG(float2, heddle_v2f, f2)
HEDDLE_LDG(float4, heddle_v4f, f4)
HEDDLE_LDG(double2, heddle_v2d, d2)
HEDDLE_LDG(uchar4, heddle_v4c, uc4)
#undef HEDDLE_LDG

/* ---- Atomics ------------------------------------------------------------- */

/* Relaxed, as CUDA's are; each returns the old value. */
#define HEDDLE_ATOMIC(name, T, op)                                                                           \
  HEDDLE_FN T name(T *p, T v) { return (T)__atomic_##op(p, v, __ATOMIC_RELAXED); }
#define HEDDLE_ATOMIC_INTEGERS(name, op)                                                                     \
  HEDDLE_ATOMIC(name, int, op)                                                                               \
  HEDDLE_ATOMIC(name, unsigned, op)                                                                          \
  HEDDLE_ATOMIC(name, long long, op)                                                                         \
  HEDDLE_ATOMIC(name, unsigned long long, op)
HEDDLE_ATOMIC_INTEGERS(atomicAdd, fetch_add)
HEDDLE_ATOMIC_INTEGERS(atomicSub, fetch_sub)
HEDDLE_ATOMIC_INTEGERS(atomicAnd, fetch_and)
HEDDLE_ATOMIC_INTEGERS(atomicOr, fetch_or)
HEDDLE_ATOMIC_INTEGERS(atomicXor, fetch_xor)
HEDDLE_ATOMIC_INTEGERS(atomicMin, fetch_min)
HEDDLE_ATOMIC_INTEGERS(atomicMax, fetch_max)
HEDDLE_ATOMIC_INTEGERS(atomicExch, exchange_n)
#undef HEDDLE_ATOMIC_INTEGERS
#undef HEDDLE_ATOMIC
HEDDLE_FN float atomicAdd(float *p, float v) { return __nvvm_atom_add_gen_f(p, v); }
#if __CUDA_ARCH__ >= 600
HEDDLE_FN double atomicAdd(double *p, double v) { return __nvvm_atom_add_gen_d(p, v); }
#endif
HEDDLE_FN float atomicExch(float *p, float v) {
  return __builtin_bit_cast(float, atomicExch((int *)p, __builtin_bit_cast(int, v)));
}
HEDDLE_FN unsigned atomicInc(unsigned *p, unsigned limit) { return __nvvm_atom_inc_gen_ui(p, limit); }
HEDDLE_FN unsigned atomicDec(unsigned *p, unsigned limit) { return __nvvm_atom_dec_gen_ui(p, limit); }
#define HEDDLE_CAS(T)                                                                                        \
  HEDDLE_FN T atomicCAS(T *p, T expected, T desired) {                                                       \
    __atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);           \
    return expected;                                                                                         \
  }
HEDDLE_CAS(int)
HEDDLE_CAS(unsigned)
HEDDLE_CAS(unsigned long long)
#undef HEDDLE_CAS

/* ---- Textures ------------------------------------------------------------ */

typedef unsigned long long cudaTextureObject_t;

/* The texel's first channel. */
template <class T> static __device__ T tex1Dfetch(cudaTextureObject_t texture, int i);
template <>
__device__ inline __attribute__((always_inline)) float tex1Dfetch<float>(cudaTextureObject_t texture, int i) {
  float x, y, z, w;
  asm("tex.1d.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5}];"
      : "=f"(x), "=f"(y), "=f"(z), "=f"(w)
      : "l"(texture), "r"(i));
  return x;
}

template <class T> static __device__ T tex2D(cudaTextureObject_t texture, float x, float y);
#define HEDDLE_TEX2D(T, type, letter)                                                                        \
  template <>                                                                                                \
  __device__ inline __attribute__((always_inline)) T tex2D<T>(cudaTextureObject_t texture, float s, float t) { \
    T x, y, z, w;                                                                                            \
    asm("tex.2d.v4." type ".f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"                                           \
        : "=" letter(x), "=" letter(y), "=" letter(z), "=" letter(w)                                         \
        : "l"(texture), "f"(s), "f"(t));                                                                     \
    return x;                                                                                                \
  }
HEDDLE_TEX2D(float, "f32", "f")
HEDDLE_TEX2D(unsigned, "u32", "r")
#undef HEDDLE_TEX2D

/* ---- Integers and bits --------------------------------------------------- */

#define HEDDLE_MINMAX(T)                                                                                     \
  HEDDLE_FN T min(T a, T b) { return b < a ? b : a; }                                                        \
  HEDDLE_FN T max(T a, T b) { return a < b ? b : a; }
HEDDLE_MINMAX(int)
HEDDLE_MINMAX(unsigned)
HEDDLE_MINMAX(long)
HEDDLE_MINMAX(unsigned long)
HEDDLE_MINMAX(long long)
HEDDLE_MINMAX(unsigned long long)
#undef HEDDLE_MINMAX
HEDDLE_FN unsigned min(int a, unsigned b) { return min((unsigned)a, b); }
HEDDLE_FN unsigned min(unsigned a, int b) { return min(a, (unsigned)b); }
HEDDLE_FN unsigned max(int a, unsigned b) { return max((unsigned)a, b); }
HEDDLE_FN unsigned max(unsigned a, int b) { return max(a, (unsigned)b); }

HEDDLE_FN int abs(int x) { return x < 0 ? -x : x; }
HEDDLE_FN long long llabs(long long x) { return x < 0 ? -x : x; }
HEDDLE_FN int __popc(unsigned x) { return __builtin_popcount(x); }
HEDDLE_FN int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
HEDDLE_FN int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
HEDDLE_FN int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
HEDDLE_FN int __ffs(int x) { return __builtin_ffs(x); }
HEDDLE_FN int __ffsll(long long x) { return __builtin_ffsll(x); }
HEDDLE_FN unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
HEDDLE_FN int __mulhi(int a, int b) { return (int)(((long long)a * b) >> 32); }
HEDDLE_FN unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a * b) >> 32); }
HEDDLE_FN int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
HEDDLE_FN int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
HEDDLE_FN unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
HEDDLE_FN float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
HEDDLE_FN float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
HEDDLE_FN long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
HEDDLE_FN double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }

/* ---- Floating point: one instruction each -------------------------------- */

HEDDLE_FN float fabsf(float x) { return __builtin_fabsf(x); }
HEDDLE_FN double fabs(double x) { return __builtin_fabs(x); }
HEDDLE_FN float fmaf(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
HEDDLE_FN double fma(double a, double b, double c) { return __nvvm_fma_rn_d(a, b, c); }
HEDDLE_FN float fminf(float a, float b) { return __nvvm_fmin_f(a, b); }
HEDDLE_FN float fmaxf(float a, float b) { return __nvvm_fmax_f(a, b); }
HEDDLE_FN double fmin(double a, double b) { return __nvvm_fmin_d(a, b); }
HEDDLE_FN double fmax(double a, double b) { return __nvvm_fmax_d(a, b); }
HEDDLE_FN float min(float a, float b) { return fminf(a, b); }
HEDDLE_FN float max(float a, float b) { return fmaxf(a, b); }
HEDDLE_FN double min(double a, double b) { return fmin(a, b); }
HEDDLE_FN double max(double a, double b) { return fmax(a, b); }
HEDDLE_FN float sqrtf(float x) { return __nvvm_sqrt_rn_f(x); }
HEDDLE_FN double sqrt(double x) { return __nvvm_sqrt_rn_d(x); }
HEDDLE_FN float rsqrtf(float x) { return __nvvm_rsqrt_approx_f(x); }
HEDDLE_FN double rsqrt(double x) { return 1.0 / __nvvm_sqrt_rn_d(x); }
HEDDLE_FN float floorf(float x) { return __builtin_floorf(x); }
HEDDLE_FN float ceilf(float x) { return __builtin_ceilf(x); }
HEDDLE_FN float truncf(float x) { return __builtin_truncf(x); }
HEDDLE_FN float rintf(float x) { return __builtin_rintf(x); }
HEDDLE_FN double floor(double x) { return __builtin_floor(x); }
HEDDLE_FN double ceil(double x) { return __builtin_ceil(x); }
HEDDLE_FN double trunc(double x) { return __builtin_trunc(x); }
HEDDLE_FN double rint(double x) { return __builtin_rint(x); }
HEDDLE_FN float copysignf(float x, float s) { return __builtin_copysignf(x, s); }
HEDDLE_FN bool isnan(float x) { return x != x; }
HEDDLE_FN bool isinf(float x) { return __builtin_fabsf(x) == __builtin_inff(); }
HEDDLE_FN float roundf(float x) { /* halves away from zero */
  float t = truncf(x);
  return fabsf(x - t) >= 0.5f ? t + copysignf(1.0f, x) : copysignf(t, x);
}

/* Correctly rounded and never contracted into a multiply-add: written as instructions, because clang
 * takes its builtins for these to mean the operators, which it may contract. */
#define HEDDLE_ROUNDED(name, T, letter, instruction)                                                         \
  HEDDLE_FN T name(T a, T b) {                                                                               \
    T r;                                                                                                     \
    asm(instruction " %0, %1, %2;" : "=" letter(r) : letter(a), letter(b));                                  \
    return r;                                                                                                \
  }
HEDDLE_ROUNDED(__fadd_rn, float, "f", "add.rn.f32")
HEDDLE_ROUNDED(__fsub_rn, float, "f", "sub.rn.f32")
HEDDLE_ROUNDED(__fmul_rn, float, "f", "mul.rn.f32")
HEDDLE_ROUNDED(__dadd_rn, double, "d", "add.rn.f64")
HEDDLE_ROUNDED(__dmul_rn, double, "d", "mul.rn.f64")
#undef HEDDLE_ROUNDED
HEDDLE_FN float __fmaf_rn(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
HEDDLE_FN float __fdiv_rn(float a, float b) { return __nvvm_div_rn_f(a, b); }
HEDDLE_FN float __fsqrt_rn(float x) { return __nvvm_sqrt_rn_f(x); }
HEDDLE_FN double __fma_rn(double a, double b, double c) { return __nvvm_fma_rn_d(a, b, c); }
HEDDLE_FN int __float2int_rn(float x) { return __nvvm_f2i_rn(x); }
HEDDLE_FN int __float2int_rz(float x) { return __nvvm_f2i_rz(x); }
HEDDLE_FN float __int2float_rn(int x) { return __nvvm_i2f_rn(x); }

/* The hardware's approximations under CUDA's names for them. */
HEDDLE_FN float __fdividef(float a, float b) { return __nvvm_div_approx_f(a, b); }
HEDDLE_FN float __sinf(float x) { return __nvvm_sin_approx_f(x); }
HEDDLE_FN float __cosf(float x) { return __nvvm_cos_approx_f(x); }
HEDDLE_FN float __log2f(float x) { return __nvvm_lg2_approx_f(x); }
HEDDLE_FN float __logf(float x) { return __nvvm_lg2_approx_f(x) * 0.693147181f; }
HEDDLE_FN float __expf(float x) { return __nvvm_ex2_approx_f(x * 1.44269504f); }
HEDDLE_FN float __powf(float x, float y) { return __nvvm_ex2_approx_f(y * __nvvm_lg2_approx_f(x)); }

/* ---- Floating point: elementary functions -------------------------------- */

HEDDLE_FN float exp2f(float x) { return __nvvm_ex2_approx_f(x); } /* all x; 2 ulp */

/* exp(x) = 2^k 2^f with x = (k + f) ln 2; ln 2 in two parts keeps f exact to the last bits
 * where x * log2(e) alone would lose them. k is halved so that 2^k neither overflows early
 * nor skips the subnormals. All x. */
HEDDLE_FN float expf(float x) {
  float k = rintf(fminf(fmaxf(x, -110.0f), 110.0f) * 1.44269504f);
  float r = fmaf(k, -0.693145752f, x); /* 15 high bits of ln 2: k times it is exact */
  r = fmaf(k, -1.42860677e-6f, r);     /* ln 2 - 0.693145752 */
  float half = truncf(k * 0.5f);
  float e = __nvvm_ex2_approx_f(r * 1.44269504f) * __nvvm_ex2_approx_f(half) * __nvvm_ex2_approx_f(k - half);
  return x != x ? x : e;
}

/* log(m 2^e) = e ln 2 + 2 atanh(s), s = (m - 1) / (m + 1), m in [0.7, 1.42): |s| <= 0.172, and
 * the series' first term left out, s^10/11, is below 2^-28. All x > 0; 0 gives -inf, below NaN. */
HEDDLE_FN float heddle_log_parts(float x, float *e) {
  float scale = 0.0f;
  if (x < 1.17549435e-38f) { /* subnormal */
    x *= 16777216.0f;
    scale = -24.0f;
  }
  int bits = __float_as_int(x) - 0x3f3504f3; /* the bits of sqrt(1/2) */
  *e = (float)(bits >> 23) + scale;
  float m = __int_as_float((bits & 0x7fffff) + 0x3f3504f3);
  float s = (m - 1.0f) / (m + 1.0f), q = s * s;
  float p = fmaf(q, 1.0f / 9, 1.0f / 7);
  p = fmaf(p, q, 1.0f / 5);
  p = fmaf(p, q, 1.0f / 3);
  return fmaf(2.0f * s * q, p, 2.0f * s);
}
HEDDLE_FN float heddle_log_special(float x, float y) {
  y = x == 0.0f ? -__builtin_inff() : y;
  y = x == __builtin_inff() ? x : y;
  return x < 0.0f || x != x ? __builtin_nanf("") : y;
}
HEDDLE_FN float logf(float x) {
  float e, l = heddle_log_parts(x, &e);
  return heddle_log_special(x, fmaf(e, 0.693145752f, fmaf(e, 1.42860677e-6f, l)));
}
HEDDLE_FN float log2f(float x) {
  float e, l = heddle_log_parts(x, &e);
  return heddle_log_special(x, fmaf(l, 1.44269502f, fmaf(l, 1.92596299e-8f, e)));
}
HEDDLE_FN float log10f(float x) { return logf(x) * 0.434294482f; }

/* x = k pi/2 + r, pi/2 in three parts: r is good while |x| < 10^5. */
HEDDLE_FN float heddle_half_pi(float x, int *quadrant) {
  float k = rintf(x * 0.636619772f);
  *quadrant = __nvvm_f2i_rn(k);
  float r = fmaf(k, -1.57079601e+0f, x);
  r = fmaf(k, -3.13916473e-7f, r);
  return fmaf(k, -5.39030253e-15f, r);
}
HEDDLE_FN float heddle_sin_or_cos(float r, int quadrant) {
  float q = r * r;
  float s = fmaf(q, 2.75573192e-6f, -1.98412698e-4f); /* Taylor: 1/9!, -1/7!, ... on |r| <= pi/4 */
  s = fmaf(s, q, 8.33333333e-3f);
  s = fmaf(s, q, -1.66666667e-1f);
  s = fmaf(s * q, r, r);
  float c = fmaf(q, 2.48015873e-5f, -1.38888889e-3f); /* 1/8!, -1/6!, ... */
  c = fmaf(c, q, 4.16666667e-2f);
  c = fmaf(c, q, -0.5f);
  c = fmaf(c, q, 1.0f);
  float v = quadrant & 1 ? c : s;
  return quadrant & 2 ? -v : v;
}
HEDDLE_FN float sinf(float x) {
  int quadrant;
  float r = heddle_half_pi(x, &quadrant);
  return heddle_sin_or_cos(r, quadrant);
}
HEDDLE_FN float cosf(float x) {
  int quadrant;
  float r = heddle_half_pi(x, &quadrant);
  return heddle_sin_or_cos(r, quadrant + 1);
}
HEDDLE_FN void sincosf(float x, float *s, float *c) {
  *s = sinf(x);
  *c = cosf(x);
}

/* Near 0 the quotient cancels: there the series x - x^3/3 + 2x^5/15 - 17x^7/315 + 62x^9/2835 serves. */
HEDDLE_FN float tanhf(float x) {
  float q = x * x;
  float p = fmaf(q, 62.0f / 2835, -17.0f / 315);
  p = fmaf(p, q, 2.0f / 15);
  p = fmaf(p, q, -1.0f / 3);
  float small = fmaf(p * q, x, x);
  float t = 1.0f - 2.0f / (expf(2.0f * fminf(fabsf(x), 20.0f)) + 1.0f);
  return x != x ? x : q < 0.1f ? small : copysignf(t, x);
}

/* 2^(y log2 |x|) with log2 |x| as a sum of two floats; a negative x needs a whole y, as in C. */
HEDDLE_FN float powf(float x, float y) {
  float e, l = heddle_log_parts(fabsf(x), &e);
  float h = l * 1.44269502f, t = fmaf(l, 1.44269502f, -h) + l * 1.92596299e-8f;
  float whole = y * e, part = fmaf(y, e, -whole) + y * t;
  float sum = fmaf(y, h, whole), rest = whole - sum;
  rest = fmaf(y, h, rest) + part;
  float k = rintf(fminf(fmaxf(sum, -300.0f), 300.0f));
  float half = truncf(k * 0.5f);
  float v = __nvvm_ex2_approx_f((sum - k) + rest) * __nvvm_ex2_approx_f(half) * __nvvm_ex2_approx_f(k - half);
  float ax = fabsf(x), inf = __builtin_inff();
  if (ax == 0.0f || ax == inf) v = (ax == 0.0f) == (y > 0.0f) ? 0.0f : inf;
  if (fabsf(y) == inf) v = ax == 1.0f ? 1.0f : (ax > 1.0f) == (y > 0.0f) ? inf : 0.0f;
  if (__float_as_int(x) < 0) {
    bool odd = fabsf(y * 0.5f - truncf(y * 0.5f)) == 0.5f;
    if (truncf(y) == y)
      v = odd ? -v : v;
    else if (ax != 0.0f && ax != inf)
      v = __builtin_nanf("");
  }
  if (x != x || y != y) v = x + y;
  return x == 1.0f || y == 0.0f ? 1.0f : v;
}

#undef HEDDLE_FN

extern "C" __device__ int printf(const char *, ...);

#endif
