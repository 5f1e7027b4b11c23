// Kinds of loads, by what they ask of caches.
#pragma once
#include "check.cuh"
typedef unsigned u32;
typedef unsigned long long u64;
enum { LINE = 128 };
enum how { PLAIN, HINT, NORMAL, FIRST, FIRST_HINT, NONE, NC, NC_NONE, CG, HOWS };
static const char *const names[HOWS] = {"ld",
                                        "ld.L2::cache_hint evict_first",
                                        "ld.L2::cache_hint evict_normal",
                                        "ld.L1::evict_first",
                                        "ld.L1::evict_first.L2::cache_hint evict_first",
                                        "ld.L1::no_allocate",
                                        "ld.nc",
                                        "ld.nc.L1::no_allocate",
                                        "ld.cg"};
template <int HOW> __device__ __forceinline__ u32 load(const char *p, u64 policy) {
  u32 v;
  if (HOW == PLAIN) asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(p));
  if (HOW == HINT || HOW == NORMAL)
    asm volatile("ld.global.L2::cache_hint.u32 %0, [%1], %2;" : "=r"(v) : "l"(p), "l"(policy));
  if (HOW == FIRST) asm volatile("ld.global.L1::evict_first.u32 %0, [%1];" : "=r"(v) : "l"(p));
  if (HOW == FIRST_HINT)
    asm volatile("ld.global.L1::evict_first.L2::cache_hint.u32 %0, [%1], %2;"
                 : "=r"(v)
                 : "l"(p), "l"(policy));
  if (HOW == NONE) asm volatile("ld.global.L1::no_allocate.u32 %0, [%1];" : "=r"(v) : "l"(p));
  if (HOW == NC) asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(v) : "l"(p));
  if (HOW == NC_NONE) asm volatile("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(v) : "l"(p));
  if (HOW == CG) asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p));
  return v;
}
// The policy that loads of this kind with a hint take.
template <int HOW> __device__ __forceinline__ u64 make_policy() {
  u64 policy = 0;
  if (HOW == NORMAL)
    asm volatile("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy));
  else
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
