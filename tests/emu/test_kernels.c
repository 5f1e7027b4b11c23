/* Whole kernels, compiled by nvcc (ptx/ *.cu beside ptx/ *.ptx), against a CPU's results; under every
 * instruction set, check, dispatcher and number of host threads. */
#include "session.h"

#include <math.h>

/* ---- basics.cu ------------------------------------------------------------------------- */

static void vectors_are_added(void **state) {
  session s;
  ON_EACH_MACHINE(&s, "basics") {
    int n = 10007;
    float *h = malloc(2 * n * sizeof *h);
    for (int i = 0; i < 2 * n; i++) h[i] = noise(1, i);
    uint64_t a = buffer(&s, h, n * 4), b = buffer(&s, h + n, n * 4), c = buffer(&s, NULL, n * 4);
    RUN_OK(&s, "vector_add", (n + 255) / 256, 256, 0, ARG(a), ARG(b), ARG(c), ARG(n));
    const float *got = HOST(&s, float, c, n);
    for (int i = 0; i < n; i++) assert_true(got[i] == h[i] + h[n + i]);
    free(h);
    /* One thread too many. */
    n++;
    assert_int_equal(RUN(&s, "vector_add", 40, 256, 0, ARG(a), ARG(b), ARG(c), ARG(n)), HD_ERR_FAULT);
    CHECK_MESSAGE(&s.d, "out of bounds: load of 4 bytes");
    CHECK_MESSAGE(&s.d, "0 bytes past the end of the 40028-byte allocation");
    CHECK_MESSAGE(&s.d, "ld.global.f32");
    CHECK_MESSAGE(&s.d, "in vector_add, CTA (39,0,0), thread (23,0,0)");
    assert_true(s.d.line > 30 && s.d.line < 60);
  }
}

static void divergent_loops_end_right(void **state) {
  session s;
  ON_EACH_MACHINE(&s, "basics") {
    int n = 1000;
    uint32_t start[1000];
    for (int i = 0; i < n; i++) start[i] = i * i % 7919 + 1;
    uint64_t a = buffer(&s, start, sizeof start), b = buffer(&s, NULL, sizeof start);
    RUN_OK(&s, "collatz", 9, 128, 0, ARG(a), ARG(b), ARG(n));
    for (int i = 0; i < n; i++) {
      uint32_t k = 0;
      for (uint64_t x = start[i]; x != 1; k++) x = x & 1 ? 3 * x + 1 : x / 2;
      assert_int_equal(HOST(&s, uint32_t, b, n)[i], k);
    }
  }
}

static void branch_tables_reach_every_case(void **state) {
  session s;
  ON_EACH_MACHINE(&s, "basics") {
    int n = 500, in[500], out[500], want[500];
    for (int i = 0; i < n; i++) {
      in[i] = (int)(hd_random_at(3, i) % 12) - 2;
      out[i] = i;
    }
    for (int i = 0; i < n; i++) {
      const int x = in[i],
                r[] = {17, x * 31 + 5, out[i] + 3, -x, x * 128, in[(i + 1) % n], x ^ 0x55, in[i * 7 % n] - 4};
      want[i] = x >= 0 && x < 8 ? r[x] : -1;
    }
    uint64_t a = buffer(&s, in, sizeof in), b = buffer(&s, out, sizeof out);
    RUN_OK(&s, "classify", 8, 64, 0, ARG(a), ARG(b), ARG(n));
    assert_memory_equal(HOST(&s, int, b, n), want, sizeof want);
  }
}

static int compare_u16(const void *a, const void *b) { return *(const uint16_t *)a - *(const uint16_t *)b; }

static void local_arrays_are_each_threads_own(void **state) {
  session s;
  ON_EACH_MACHINE(&s, "basics") {
    int n = 90;
    uint16_t v[90 * 24];
    for (int i = 0; i < n * 24; i++) v[i] = (uint16_t)hd_random_at(4, i);
    uint64_t a = buffer(&s, v, sizeof v);
    RUN_OK(&s, "local_sort", 3, 32, 0, ARG(a), ARG(n));
    for (int i = 0; i < n; i++) qsort(v + i * 24, 24, 2, compare_u16);
    assert_memory_equal(HOST(&s, uint16_t, a, n * 24), v, sizeof v);
  }
}

typedef struct item {
  uint8_t tag;
  double weight;
  int16_t list[5];
} item;

static void generic_addresses_reach_parameters_and_memory(void **state) {
  session s;
  ON_EACH_MACHINE(&s, "basics") {
    int n = 77;
    item one = {3, 1.25, {1, -2, 3, -4, 5}}, table[77];
    memset(table, 0, sizeof table);
    for (int i = 0; i < n; i++) {
      table[i].tag = (uint8_t)i;
      table[i].weight = i * 0.5;
      for (int k = 0; k < 5; k++) table[i].list[k] = (int16_t)(i * k - 40);
    }
    uint64_t a = buffer(&s, table, sizeof table), b = buffer(&s, NULL, n * 8);
    RUN_OK(&s, "weigh", 2, 64, 0, ARG(one), ARG(a), ARG(b), ARG(n));
    for (int i = 0; i < n; i++) {
      const item *p = i % 3 == 0 ? &one : &table[i];
      double sum = p->weight * p->tag;
      for (int k = 0; k < 5; k++) sum += p->list[(k + i) % 5] * (k + 1);
      assert_true(HOST(&s, double, b, n)[i] == sum);
    }
  }
}

/* ---- matmul.cu ------------------------------------------------------------------------------ */

static void matrices_are_multiplied(void **state) {
  session s;
  ON_EACH_MACHINE(&s, "matmul") {
    enum { N = 43 };
    int n = N;
    float a[N * N], b[N * N], want[N * N];
    for (int i = 0; i < N * N; i++) a[i] = noise(5, i), b[i] = noise(6, i);
    for (int i = 0; i < N * N; i++) {
      float sum = 0; /* nvcc fuses into fma */
      for (int k = 0; k < N; k++) sum = fmaf(a[i / N * N + k], b[k * N + i % N], sum);
      want[i] = sum;
    }
    uint64_t da = buffer(&s, a, sizeof a), db = buffer(&s, b, sizeof b);
    uint64_t c0 = buffer(&s, NULL, sizeof a), c1 = buffer(&s, NULL, sizeof a),
             c2 = buffer(&s, NULL, sizeof a);
    RUN_OK(&s, "matmul_naive", BY(2, 6), BY(32, 8), 0, ARG(da), ARG(db), ARG(c0), ARG(n));
    assert_memory_equal(HOST(&s, float, c0, N *N), want, sizeof want);
    RUN_OK(&s, "matmul_tiled", BY(3, 3), BY(16, 16), 0, ARG(da), ARG(db), ARG(c1), ARG(n));
    assert_memory_equal(HOST(&s, float, c1, N *N), want, sizeof want);
    int tile = 11;
    RUN_OK(&s, "matmul_dynamic", BY(4, 4), BY(11, 11), 2 * 121 * 4, ARG(da), ARG(db), ARG(c2), ARG(n),
           ARG(tile));
    assert_memory_equal(HOST(&s, float, c2, N *N), want, sizeof want);
    assert_int_equal(RUN(&s, "matmul_dynamic", BY(4, 4), BY(11, 11), 2 * 121 * 4 - 4, ARG(da), ARG(db),
                         ARG(c2), ARG(n), ARG(tile)),
                     HD_ERR_FAULT);
    CHECK_MESSAGE(&s.d, "out of bounds: store of 4 bytes at shared offset");
  }
}

/* Two blocks write the same tile. */
static void a_grid_that_overlaps_is_a_race(void **state) {
  session s;
  open_file(&s, "matmul", &(hd_emu_options){.checks = HD_CHECK_ALL, .memory = 1 << 24});
  int n = 16;
  float in[256];
  for (int i = 0; i < 256; i++) in[i] = (float)(hd_random_at(3, (uint64_t)i) % 100);
  uint64_t a = buffer(&s, in, 1024), b = buffer(&s, in, 1024), c = buffer(&s, NULL, 1024);
  int tile = 8;
  RUN_OK(&s, "matmul_dynamic", BY(2, 2), BY(8, 8), 512, ARG(a), ARG(b), ARG(c), ARG(n), ARG(tile));
  tile = 4; /* with blocks of 8 by 4: lanes of one warp write the same places of the tile */
  assert_int_equal(
      RUN(&s, "matmul_dynamic", BY(2, 2), BY(8, 4), 512, ARG(a), ARG(b), ARG(c), ARG(n), ARG(tile)),
      HD_ERR_FAULT);
  CHECK_MESSAGE(&s.d, "race inside a CTA: store of 4 bytes");
  CHECK_MESSAGE(&s.d, "of the same warp");
  /* Of 8 by 8: two warps write the same places of the tile. */
  assert_int_equal(
      RUN(&s, "matmul_dynamic", BY(1, 1), BY(8, 8), 512, ARG(a), ARG(b), ARG(c), ARG(n), ARG(tile)),
      HD_ERR_FAULT);
  CHECK_MESSAGE(&s.d, "race inside a CTA: store of 4 bytes");
  /* And uninitialised input is told. */
  a = buffer(&s, NULL, 1024);
  assert_int_equal(RUN(&s, "matmul_naive", BY(1, 1), BY(16, 16), 0, ARG(a), ARG(b), ARG(c), ARG(n)),
                   HD_ERR_FAULT);
  CHECK_MESSAGE(&s.d, "reads memory that was never written");
  close_file(&s);
}

/* ---- calls.cu --------------------------------------------------------------------------------- */

typedef struct big {
  double d[3];
  uint8_t b[7];
} big;
static big mix(big x, int k, float f) {
  for (int j = 0; j < 3; j++) x.d[j] = fma(x.d[j], (double)f, (double)k);
  for (int j = 0; j < 7; j++) x.b[j] = (uint8_t)(x.b[(j + 1) % 7] + k);
  return x;
}
static void walk(int *place, int depth) {
  int here[4] = {depth, depth + 1, depth + 2, depth + 3};
  if (depth == 0) return;
  walk(here, depth - 1);
  *place += here[0] + here[depth & 3];
}

static void functions_are_called(void **state) {
  session s;
  ON_EACH_MACHINE(&s, "calls") {
    uint64_t out = buffer(&s, NULL, 4 * 64);
    RUN_OK(&s, "fibonacci", 1, 64, 0, ARG(out));
    for (uint32_t t = 0; t < 64; t++) {
      uint32_t a = 0, b = 1;
      for (uint32_t k = t % 13; k; k--) b += a, a = b - a;
      assert_int_equal(HOST(&s, uint32_t, out, 64)[t], a);
    }
    int n = 100, which[100];
    for (int i = 0; i < n; i++) which[i] = (int)(hd_random_at(8, i) % 3);
    uint64_t w = buffer(&s, which, sizeof which), r = buffer(&s, NULL, sizeof which);
    RUN_OK(&s, "indirect", 2, 64, 0, ARG(w), ARG(r), ARG(n));
    for (int i = 0; i < n; i++)
      assert_int_equal(HOST(&s, int, r, n)[i], which[i] == 0 ? i + 7 : which[i] == 1 ? i - 7 : i * 7);

    big data[50];
    memset(data, 0, sizeof data);
    for (int i = 0; i < 50; i++) {
      for (int k = 0; k < 3; k++) data[i].d[k] = i + k * 0.25;
      for (int k = 0; k < 7; k++) data[i].b[k] = (uint8_t)(i * k);
    }
    n = 50;
    uint64_t d = buffer(&s, data, sizeof data);
    RUN_OK(&s, "structures", 1, 64, 0, ARG(d), ARG(n));
    for (int i = 0; i < n; i++) {
      big x = i % 2 ? mix(data[i], i, 0.5f) : mix(mix(data[i], 3, 2.0f), i, 1.0f);
      assert_memory_equal(HOST(&s, big, d, n)[i].d, x.d, sizeof x.d);
      assert_memory_equal(HOST(&s, big, d, n)[i].b, x.b, sizeof x.b);
    }
    RUN_OK(&s, "through_pointers", 1, 64, 0, ARG(out));
    for (int t = 0; t < 64; t++) {
      int mine = 0;
      walk(&mine, t % 7);
      assert_int_equal(HOST(&s, int, out, 64)[t], mine);
    }
    uint64_t z = zeros(&s, 8);
    assert_int_equal(RUN(&s, "overflow", 1, 1, 0, ARG(z)), HD_ERR_FAULT);
    CHECK_MESSAGE(&s.d, "call stack overflow");
  }
}

/* ---- sync.cu ----------------------------------------------------------------------------------------- */

static void threads_work_together(void **state) {
  session s;
  ON_EACH_MACHINE(&s, "sync") {
    enum { N = 3000 };
    int n = N, in[N];
    float f[N];
    uint8_t u[N];
    for (int i = 0; i < n; i++) {
      in[i] = (int)(hd_random_at(9, i) % 101);
      f[i] = (float)(in[i] - 50);
      u[i] = (uint8_t)hd_random_at(10, i);
    }
    uint64_t di = buffer(&s, in, sizeof in), df = buffer(&s, f, sizeof f), du = buffer(&s, u, sizeof u);
    uint64_t out = zeros(&s, sizeof in), sums = zeros(&s, 4 * 12);
    RUN_OK(&s, "warp_sum", 12, 256, 0, ARG(di), ARG(out), ARG(n));
    for (int w = 0; w < (n + 31) / 32; w++) {
      int sum = 0;
      for (int i = w * 32; i < w * 32 + 32 && i < n; i++) sum += in[i];
      assert_int_equal(HOST(&s, int, out, n)[w], sum);
    }
    RUN_OK(&s, "block_sum", 12, 160, 0, ARG(df), ARG(sums), ARG(n));
    double total = 0, want = 0;
    for (int b = 0; b < 12; b++) total += HOST(&s, float, sums, 12)[b];
    for (int i = 0; i < n; i++) want += f[i];
    assert_true(total == want); /* small integers: exact in any order */

    uint64_t bins = zeros(&s, 1024);
    RUN_OK(&s, "histogram", 5, 96, 0, ARG(du), ARG(bins), ARG(n));
    uint32_t count[256] = {0};
    for (int i = 0; i < n; i++) count[u[i]]++;
    assert_memory_equal(HOST(&s, uint32_t, bins, 256), count, sizeof count);

    uint64_t v = zeros(&s, 8 * 64);
    n = 512;
    RUN_OK(&s, "pipeline", 1, 64, 0, ARG(di), ARG(out), ARG(n));
    for (int i = 0; i < n; i++)
      assert_int_equal(HOST(&s, int, out, n)[i], in[i / 32 * 32 + 31 - i % 32] * 3 + 1);

    RUN_OK(&s, "votes", 4, 128, 0, ARG(di), ARG(out));
    for (int i = 0; i < 512; i++) {
      uint32_t odd = 0, equal = 0, block = 0, any = 0;
      for (int l = 0; l < 32; l++) {
        const int x = in[i / 32 * 32 + l];
        odd |= (uint32_t)(x & 1) << l;
        equal |= (uint32_t)(x == in[i]) << l;
      }
      for (int t = i / 128 * 128; t < i / 128 * 128 + 128; t++) block += in[t] > 50, any |= in[t] == 99;
      uint32_t r = in[i] & 1 ? (uint32_t)__builtin_popcount(odd & ((1u << i % 32) - 1)) : equal;
      r += (block + 1000 * any + 2000) << 16;
      assert_int_equal(HOST(&s, uint32_t, out, n)[i], r);
    }

    /* These kernels read data that other CTAs wrote. Accesses under the lock are volatile, and so no race.
     * The last block's reads are ordered by a fence and an atomic. */
    const uint64_t lock = v, value = v + 64, token = v + 128, order = v + 192;
    RUN_OK(&s, "locked", 5, 96, 0, ARG(lock), ARG(value));
    assert_int_equal(*HOST(&s, int, value, 1), 5 * 96);
    uint64_t part = zeros(&s, 4 * 8), sum = zeros(&s, 4);
    for (int again = 0; again < 2; again++) {
      memset(HOST(&s, char, part, 32), 0, 32);
      RUN_OK(&s, "last_block", 8, 100, 0, ARG(di), ARG(part), ARG(sum));
      int all = 0;
      for (int i = 0; i < 800; i++) all += in[i];
      assert_int_equal(*HOST(&s, int, sum, 1), all);
    }
    const hd_dispatch_kind kind = s.how.kind;
    if (kind == HD_DISPATCH_REVERSE || kind == HD_DISPATCH_SHUFFLED)
      continue; /* waits for a CTA that comes later */
    RUN_OK(&s, "chain", 60, 33, 0, ARG(token), ARG(order));
    for (int b = 0; b < 60; b++) assert_int_equal(HOST(&s, int, order, 60)[b], 2 * b);
  }
}

/* ---- program.cu ------------------------------------------------------------------------------ */

static void collect(void *ctx, const char *text, size_t len) { hd_buf_put(ctx, text, len); }

static void modules_variables_are_filled(void **state) {
  session s;
  ON_EACH_MACHINE(&s, "program") {
    uint64_t out = buffer(&s, NULL, 8 * 11), address, bytes;
    RUN_OK(&s, "variables", 1, 1, 0, ARG(out));
    static const double want[11] = {321, 0.5, 1.5, -2.0, 4.0, 0, 0, -5000000000.0, 3, 'l' + 'm' * 1000, 255};
    assert_memory_equal(HOST(&s, double, out, 11), want, sizeof want);
    CHECK_OK(hd_emu_symbol(s.p, "counters", &address, &bytes, &s.d), &s.d);
    assert_int_equal(bytes, 16);
    int counters[4];
    CHECK_OK(hd_emu_read(s.e, address, counters, 16, &s.d), &s.d);
    assert_int_equal(counters[3], 7);
    assert_int_equal(hd_emu_symbol(s.p, "nothing", &address, &bytes, &s.d), HD_ERR_USAGE);
  }
}

static void output_and_assertions_are_told(void **state) {
  session s;
  ON_EACH_MACHINE(&s, "program") {
    hd_buf text = {0};
    s.hooks = (hd_emu_hooks){.ctx = &text, .print = collect};
    int n = 3;
    double x = 2.5;
    s.how = (hd_dispatch){0};
    RUN_OK(&s, "say", 2, 64, 0, ARG(n), ARG(x));
    assert_string_equal(text.data, "block 0 thread 0: loom  7.50 1099511627776 x%\n"
                                   "block 0 thread 1: loom  7.50 1099511627776 x%\n"
                                   "block 1 thread 0: loom  7.50 1099511627776 x%\n"
                                   "block 1 thread 1: loom  7.50 1099511627776 x%\n");
    hd_buf_free(&text);
    s.hooks = (hd_emu_hooks){0};
    RUN_OK(&s, "say", 2, 64, 0, ARG(n), ARG(x));
    int in[64] = {0};
    in[40] = 5;
    uint64_t a = buffer(&s, in, sizeof in);
    RUN_OK(&s, "claim", 1, 40, 0, ARG(a));
    assert_int_equal(RUN(&s, "claim", 1, 64, 0, ARG(a)), HD_ERR_FAULT);
    CHECK_MESSAGE(&s.d, "in[threadIdx.x] != 5");
    CHECK_MESSAGE(&s.d, "thread (40,0,0)");
    assert_int_equal(RUN(&s, "stop", 1, 64, 0, ARG(a)), HD_ERR_FAULT);
    CHECK_MESSAGE(&s.d, "trap");
    CHECK_MESSAGE(&s.d, "thread (3,0,0)");
    uint64_t out = buffer(&s, NULL, 4 * 200);
    RUN_OK(&s, "heap", 2, 100, 0, ARG(out));
    for (int t = 0; t < 200; t++) {
      int k = t % 100, m = k % 5 + 1;
      assert_int_equal(HOST(&s, int, out, 200)[t], k * m * (m - 1) / 2);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("vectors are added, and a thread too many is told", vectors_are_added),
      BEHAVIOUR("divergent loops end right", divergent_loops_end_right),
      BEHAVIOUR("branch tables reach every case", branch_tables_reach_every_case),
      BEHAVIOUR("local arrays are each thread's own", local_arrays_are_each_threads_own),
      BEHAVIOUR("generic addresses reach parameters and memory",
                generic_addresses_reach_parameters_and_memory),
      BEHAVIOUR("matrices are multiplied: naive, tiled, with dynamic shared memory", matrices_are_multiplied),
      BEHAVIOUR("blocks that overlap are a race", a_grid_that_overlaps_is_a_race),
      BEHAVIOUR("functions call, recur, and go through addresses", functions_are_called),
      BEHAVIOUR("threads work together: shuffles, barriers, atomics, locks, waiting blocks",
                threads_work_together),
      BEHAVIOUR("a module's variables are filled", modules_variables_are_filled),
      BEHAVIOUR("output, assertions, traps and the heap work", output_and_assertions_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
