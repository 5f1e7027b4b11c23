/* device/full_probe.h: a made-up probe of an H100, with every figure that its file is made of. */
#ifndef TESTS_DEVICE_FULL_PROBE_H
#define TESTS_DEVICE_FULL_PROBE_H

#include "heddle/probe.h"

static hd_probe_figure full_figures[] = {
    {"fma.f32", "per cycle", 120},
    {"shift.s32", "per cycle", 62},
    {"fma.f64", "per cycle", 58},
    {"ex2", "per cycle", 16},
    {"shared.load", "per cycle", 31.5},
    {"mma.f16", "per cycle", 1356},
    {"wgmma.f16", "per cycle", 2020},
    {"fma.f32 latency", "cycles", 4.2},
    {"fma.f64 latency", "cycles", 8.1},
    {"ex2 latency", "cycles", 17},
    {"shared.load latency", "cycles", 23},
    {"mma.f16 latency", "cycles", 24},
    {"fence latency", "cycles", 670},
    {"barrier of 1 warps", "cycles", 14},
    {"barrier of 32 warps", "cycles", 76},
    {"constant.load", "per cycle", 12.8}, /* 2.5 cycles each */
    {"constant.load/8", "per cycle", 2},  /* 16 */
    {"constant.load latency", "cycles", 35},
    {"constant.load/8 latency", "cycles", 112},
    {"fetch", "per cycle", 16},
    {"fetch latency", "cycles", 22.6},
    {"l1.load/32", "per cycle", 1},
    {"4 loads that hit, 32 lines each", "cycles", 128},
    {"4 loads that hit and 4 stores, 32 lines each", "cycles", 384},
    {"load of a line of L2 after prefetch.global.L1", "cycles", 330},
    {"1 x empty, 1 CTAs of 32", "us", 3},
    {"2 x empty, 1 CTAs of 32", "us", 5.75},
    {"20 x empty, 1 CTAs of 32", "us", 38},
    {"300 x empty, 1 CTAs of 32", "us", 1020},
    {"1 x empty, 67584 CTAs of 256", "us", 43.8},
    {"global.atomic latency", "cycles", 520},
    {"L2 load coalesced, 8 warps, 1 at once", "requests per us", 375},
    {"L2 load coalesced, 32 warps, 1 at once", "requests per us", 1200},
    {"L2 load coalesced, 64 warps, 1 at once", "requests per us", 1500},
    {"L2 load one sector a line, 64 warps, 4 at once", "requests per us", 4000},
    {"L2 store coalesced, 64 warps, 4 at once", "requests per us", 31000},
    {"L2 store one sector a line, 64 warps, 4 at once", "requests per us", 2000},
    {"L2 add one sector a line, 64 warps, 4 at once", "requests per us", 2800},
    {"L2 load.v4 16 bytes a lane, one SM, 32 warps, 8 at once", "requests per us", 400},
    {"L2 store coalesced, one SM, 32 warps, 4 at once", "requests per us", 490},
    {"L2 store one sector a line, one SM, 32 warps, 4 at once", "requests per us", 30},
    {"DRAM load coalesced, 8 warps, 1 at once", "requests per us", 8700},
    {"DRAM load coalesced, 32 warps, 1 at once", "requests per us", 21100},
    {"DRAM load coalesced, 64 warps, 1 at once", "requests per us", 23400},
};
enum { N_FULL_FIGURES = sizeof full_figures / sizeof *full_figures };

static inline hd_probe_result full_probe(void) {
  hd_probe_result r = {.n_ctas = 8448,
                       .clock_mhz = 1980,
                       .l1_cycles = 32.2,
                       .l2_cycles = 280.6,
                       .dram_cycles = 690,
                       .carveout = {0, 25, 50, 75, 100},
                       .l1_bytes = {221184, 188416, 118784, 45056, 12288},
                       .l1_sector = 32,
                       .l2_sector = 64,
                       .line = 128,
                       .l1_bandwidth = 30e12,
                       .l2_bandwidth = 7.8e12,
                       .dram_read_bandwidth = 3e12,
                       .copy_bandwidth = 2.8e12,
                       .figures = full_figures,
                       .n_figures = N_FULL_FIGURES};
  r.device = (hd_device_info){.kind = HD_DEVICE_CUDA,
                              .title = "NVIDIA H100 80GB HBM3",
                              .arch = 90,
                              .n_sms = 132,
                              .max_ctas = 32,
                              .max_threads = 2048,
                              .registers = 65536,
                              .shared_bytes = 233472,
                              .shared_reserved = 1024,
                              .l2_bytes = 52428800,
                              .clock_mhz = 1980};
  return r;
}

#endif
