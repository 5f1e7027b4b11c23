/* Faults of memory accesses: bounds, unwritten memory, races; and the trace hook. */
#include "kit.h"

enum { TID = 30, CTAID = 31, R = 40, P = 56 };
static struct emu_sreg sregs[] = {{HD_SR_TID, 0, TID}, {HD_SR_CTAID, 0, CTAID}};

static void open_kit(kit *k, unsigned checks, hd_emu_isa isa) {
  kit_open(k, &(hd_emu_options){.memory = 1 << 24, .threads = 1, .checks = checks, .isa = isa});
  k->codes[0].sregs = sregs;
  k->codes[0].n_sregs = 2;
}

/* ---- Any access, against a plain rule -------------------------------------------------- */

/* Runs one access of a random mask, width and addresses near an allocation's ends. */
static struct {
  uint64_t addr[32];
  unsigned bytes;
  hd_access_kind kind;
  unsigned space;
  uint32_t mask;
  bool ok;
  emu_view view;
} probe;
static void h_probe(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  (void)r, (void)mask;
  probe.ok = emu_access(w, i, probe.mask, probe.addr, probe.bytes, probe.bytes, probe.kind, HD_CACHE_L1,
                        probe.space, &probe.view);
}

static void bounds_and_alignment_hold_for_every_lane(void **state) {
  for (hd_emu_isa isa = HD_ISA_PORTABLE; isa <= emu_best_isa(); isa++) {
    kit k;
    open_kit(&k, 0, isa);
    k.codes[0].local_bytes = 48;
    uint64_t small, konst;
    CHECK_OK(hd_emu_alloc(k.e, 40, &small, &k.d), &k.d);
    CHECK_OK(hd_emu_alloc(k.e, 64, &konst, &k.d), &k.d);
    emu_set_readonly(k.e, konst);
    KIT_CODE(&k, 0, {.fn = h_probe}, EXIT);
    hd_emu_launch_params l = {.kernel = "k", .grid = {1, 1, 1}, .block = {32, 1, 1}, .dynamic_shared = 100};
    const struct { uint64_t lo, bytes; } areas[] = {{k.a, 65536}, {small, 40}, {konst, 64}};
    unsigned passed = 0, refused = 0;
    for (unsigned n = 0; n < 6000; n++) {
      uint64_t x = hd_random_at(isa, n), area = x % 6;
      probe.bytes = 1u << (x >> 8) % 5;
      probe.kind = (x >> 16) % 3 == 0 ? HD_ACCESS_STORE : HD_ACCESS_LOAD;
      probe.mask = (x >> 24) % 4 == 0 ? UINT32_MAX : (uint32_t)hd_random_at(isa + 9, n) | 1;
      probe.space = area == 5 ? HD_SPACE_LOCAL : area >= 3 ? HD_SPACE_SHARED : HD_SPACE_GLOBAL;
      uint64_t lo = area == 5   ? 0
                    : area >= 3 ? 0
                                : areas[area].lo,
               bytes = area == 5   ? 48
                       : area >= 3 ? 100
                                   : areas[area].bytes;
      if ((x >> 32) % 2 && area >= 3)
        lo = area == 5 ? EMU_LOCAL_BASE : EMU_SHARED_BASE, probe.space = EMU_GENERIC;
      const bool wild = (x >> 40) % 2;
      bool good = true;
      for (unsigned lane = 0; lane < 32; lane++) {
        uint64_t y = hd_random_at(x, lane),
                 at = y % (bytes - bytes % probe.bytes - probe.bytes + 1) / probe.bytes * probe.bytes;
        if (wild && (y >> 32) % 40 == 0) at += bytes - 3;
        if (wild && (y >> 40) % 150 == 0) at -= bytes;
        if (wild && (y >> 48) % 300 == 0) at ^= UINT64_C(1) << (y >> 56) % 64;
        probe.addr[lane] = lo + at;
        if (!(probe.mask >> lane & 1)) {
          probe.addr[lane] = y;
          continue;
        }
        const bool inside = area < 3 ? hd_emu_ptr(k.e, probe.addr[lane], probe.bytes) != NULL
                                     : at <= bytes && probe.bytes <= bytes - at;
        const bool readonly = area < 3 && probe.addr[lane] >= konst && probe.addr[lane] < konst + 64;
        if (probe.addr[lane] % probe.bytes || !inside || (readonly && probe.kind == HD_ACCESS_STORE))
          good = false;
      }
      if (probe.space == EMU_GENERIC && wild) continue; /* may leave the window */
      hd_emu_grid *g;
      hd_emu_cta *c;
      CHECK_OK(hd_emu_grid_begin(&k.p, &l, NULL, &g, &k.d), &k.d);
      CHECK_OK(hd_emu_cta_start(g, 0, 0, 0, &c, &k.d), &k.d);
      hd_emu_cta_run(c, 10);
      if (probe.ok != good) {
        hd_emu_cta_end(c);
        hd_emu_grid_end(g, &k.d);
        fail_msg("access %u: %d, expected %d: %s", n, probe.ok, good, k.d.message);
      }
      if (good) {
        for (unsigned lane = 0; lane < 32; lane++) {
          if (!(probe.mask >> lane & 1)) continue;
          char *host = (char *)(uintptr_t)(probe.addr[lane] + probe.view.delta +
                                           (uint64_t)((int64_t)lane * probe.view.lane_stride));
          char *want = area < 3    ? hd_emu_ptr(k.e, probe.addr[lane], probe.bytes)
                       : area == 5 ? c->warps[0].local + lane * g->stack_bytes + (probe.addr[lane] - lo)
                                   : c->shared + (probe.addr[lane] - lo);
          assert_ptr_equal(host, want);
        }
      }
      good ? passed++ : refused++;
      hd_emu_cta_end(c);
      assert_int_equal(hd_emu_grid_end(g, &k.d), good ? HD_OK : HD_ERR_FAULT);
    }
    assert_in_range(refused, 500, 5000);
    assert_in_range(passed, 500, 5000);
    kit_close(&k);
  }
}

static void faults_name_what_happened(void **state) {
  kit k;
  open_kit(&k, 0, HD_ISA_AUTO);
  char text[600];
  KIT_CODE(&k, 0, OP3(h_mul, R, TID, 19), OP3(h_mul, R, R, 19), OP3(h_mul, R, R, 19), LD(R + 1, IMM_B, R),
           EXIT);
  assert_int_equal(kit_launch(&k, 4, 64), HD_ERR_FAULT);
  snprintf(text, sizeof text,
           "out of bounds: load of 4 bytes at 0x%llx, %u bytes past the end of the 65536-byte allocation at "
           "0x%llx",
           (unsigned long long)k.b + 4 * 6859 * 3, 4 * 6859 * 3 - 65536, (unsigned long long)k.b);
  CHECK_MESSAGE(&k.d, text);
  CHECK_MESSAGE(&k.d, "in k, CTA (0,0,0), thread (3,0,0)");
  assert_string_equal(k.d.file, "hand.ptx");
  assert_int_equal(k.d.line, 4);
  /* Freed memory. */
  CHECK_OK(hd_emu_free(k.e, k.b, &k.d), &k.d);
  KIT_CODE(&k, 0, LD(R + 1, IMM_B, TID), EXIT);
  assert_int_equal(kit_launch(&k, 1, 32), HD_ERR_FAULT);
  CHECK_MESSAGE(&k.d, "in freed memory: a 65536-byte allocation was at");
  kit_close(&k);
}

/* A GPU does not notice an access beside an allocation, in a page that it has mapped. */
static void strays_happen_within_a_page(void **state) {
  static const struct {
    bool told, far;
    unsigned checks;
    hd_status st;
  } cases[] = {{true, false, 0, HD_OK},
               {true, true, 0, HD_ERR_FAULT},
               {false, false, 0, HD_ERR_FAULT},
               {true, false, HD_CHECK_INIT, HD_ERR_FAULT},
               {true, false, HD_CHECK_RACE, HD_ERR_FAULT}};
  for (unsigned n = 0; n < 4 * sizeof cases / sizeof *cases; n++) {
    const bool told = cases[n / 4].told;
    kit k;
    kit_open(&k, &(hd_emu_options){.memory = 1 << 24, .threads = 1 + n % 4, .checks = cases[n / 4].checks});
    k.codes[0].sregs = sregs;
    k.codes[0].n_sregs = 2;
    /* Thread t's word is t * t, and the allocation has 128 * 128; or, far away, 19 times that. */
    if (cases[n / 4].far)
      KIT_CODE(&k, 0, OP3(h_mul, R, TID, TID), OP3(h_mul, R, R, 19), ST(IMM_B, R, TID), EXIT);
    else
      KIT_CODE(&k, 0, OP3(h_mul, R, TID, TID), OP3(h_mul, R, R, 1), ST(IMM_B, R, TID), LD(R + 1, IMM_B, R),
               ST(IMM_A, TID, R + 1), EXIT);
    hd_emu_strays strays = {0};
    const hd_emu_launch_params l = {
        .kernel = "k", .grid = {8, 1, 1}, .block = {256, 1, 1}, .strays = told ? &strays : NULL};
    assert_int_equal(hd_emu_launch(&k.p, &l, NULL, NULL, NULL, &k.d), cases[n / 4].st);
    if (cases[n / 4].st == HD_OK) {
      for (uint32_t t = 0; t < 256; t++) assert_int_equal(kit_a(&k)[t], t);
      assert_int_equal(strays.n, 2);
      CHECK_MESSAGE(&strays.data[0], "out of bounds: store of 4 bytes at");
      CHECK_MESSAGE(&strays.data[1], "out of bounds: load of 4 bytes at");
      for (size_t i = 0; i < 2; i++) {
        CHECK_MESSAGE(&strays.data[i], "0 bytes past the end of the 65536-byte allocation");
        CHECK_MESSAGE(&strays.data[i], "in k, CTA (0,0,0), thread (128,0,0)");
        assert_int_equal(strays.data[i].line, 3 + i);
      }
    } else if (!cases[n / 4].far) {
      assert_int_equal(strays.n, 0);
    }
    hd_vec_free(&strays);
    kit_close(&k);
  }
}

/* 70 bytes of shared memory take 128: words 17 to 31 lie behind them, word 32 is beyond. */
static void strays_happen_behind_shared_memory(void **state) {
  for (unsigned word = 30; word <= 32; word++)
    for (unsigned told = 0; told < 2; told++) {
      kit k;
      open_kit(&k, 0, HD_ISA_AUTO);
      KIT_CODE(&k, 0, {.fn = h_probe}, EXIT);
      hd_emu_strays strays = {0};
      const hd_emu_launch_params l = {.kernel = "k",
                                      .grid = {1, 1, 1},
                                      .block = {32, 1, 1},
                                      .dynamic_shared = 70,
                                      .strays = told ? &strays : NULL};
      probe.bytes = 4;
      probe.kind = HD_ACCESS_STORE;
      probe.space = HD_SPACE_SHARED;
      probe.mask = UINT32_MAX;
      for (unsigned lane = 0; lane < 32; lane++) probe.addr[lane] = 4 * (lane % 2 ? word : lane / 2);
      const bool good = told && word < 32;
      assert_int_equal(hd_emu_launch(&k.p, &l, NULL, NULL, NULL, &k.d), good ? HD_OK : HD_ERR_FAULT);
      assert_int_equal(probe.ok, good);
      assert_int_equal(strays.n, good);
      if (good) CHECK_MESSAGE(&strays.data[0], "out of bounds: store of 4 bytes at shared offset");
      if (good) CHECK_MESSAGE(&strays.data[0], "where there are 70 bytes");
      hd_vec_free(&strays);
      kit_close(&k);
    }
}

/* A grid in which many CTAs are wrong names the first of them, however many threads run it. */
static void the_first_ctas_fault_counts(void **state) {
  for (unsigned threads = 1; threads <= 4; threads++) {
    kit k;
    kit_open(&k, &(hd_emu_options){.memory = 1 << 24, .threads = threads});
    k.codes[0].sregs = sregs;
    k.codes[0].n_sregs = 2;
    KIT_CODE(&k, 0, OP3(h_mov, R + 1, 0, 0), OP3(h_add, R + 1, R + 1, 1), OP3(h_lt, P, R + 1, 19),
             BRA_IF(P, 1), OP3(h_mul, R, CTAID, 19), OP3(h_mul, R, R, 19), ST(IMM_B, R, TID), EXIT);
    assert_int_equal(kit_launch(&k, 400, 32), HD_ERR_FAULT);
    CHECK_MESSAGE(&k.d, "CTA (46,0,0)"); /* 46 * 361 * 4 > 65536 */
    kit_close(&k);
  }
}

/* ---- CHECK_INIT ------------------------------------------------------------------------------- */

static void unwritten_memory_is_caught(void **state) {
  kit k;
  open_kit(&k, HD_CHECK_INIT, HD_ISA_AUTO);
  KIT_CODE(&k, 0, LD(R, IMM_A, TID), EXIT);
  assert_int_equal(kit_launch(&k, 1, 32), HD_ERR_FAULT);
  CHECK_MESSAGE(&k.d, "reads memory that was never written");
  hd_emu_mark_written(k.e, k.a, 31 * 4);
  assert_int_equal(kit_launch(&k, 1, 32), HD_ERR_FAULT);
  CHECK_MESSAGE(&k.d, "thread (31,0,0)");
  hd_emu_mark_written(k.e, k.a + 31 * 4, 4);
  CHECK_OK(kit_launch(&k, 1, 32), &k.d);
  /* A kernel writes for itself and for later launches; atomics read. */
  KIT_CODE(&k, 0, ST(IMM_B, TID, TID), LD(R, IMM_B, TID), EXIT);
  CHECK_OK(kit_launch(&k, 1, 32), &k.d);
  KIT_CODE(&k, 0, LD(R, IMM_B, TID), ATOM(h_atom_add, R, IMM_B, TID, 1), EXIT);
  CHECK_OK(kit_launch(&k, 1, 32), &k.d);
  assert_int_equal(kit_launch(&k, 1, 33), HD_ERR_FAULT);
  KIT_CODE(&k, 0, ATOM(h_atom_add, R, IMM_B, TID, 1), EXIT);
  assert_int_equal(kit_launch(&k, 1, 33), HD_ERR_FAULT);
  CHECK_MESSAGE(&k.d, "atomic of 4 bytes");
  kit_close(&k);
}

static void shared_memory_is_unwritten_in_every_cta(void **state) {
  kit k;
  open_kit(&k, HD_CHECK_INIT, HD_ISA_AUTO);
  k.codes[0].shared_bytes = 512;
  KIT_CODE(&k, 0, OP3(h_eq, P, CTAID, 0),
           {.fn = h_st, .src = {36, TID, 1}, .mem = {.space = HD_SPACE_SHARED}, .guarded = 1, .guard = P},
           {.fn = h_ld, .dst = R, .src = {36, TID}, .mem = {.space = HD_SPACE_SHARED}}, EXIT);
  CHECK_OK(kit_launch(&k, 1, 64), &k.d);
  assert_int_equal(kit_launch(&k, 2, 64), HD_ERR_FAULT);
  CHECK_MESSAGE(&k.d, "shared offset");
  CHECK_MESSAGE(&k.d, "CTA (1,0,0)");
  kit_close(&k);
}

/* ---- CHECK_RACE --------------------------------------------------------------------------------- */

enum { CTAS = 3, BYTES = 24 };
typedef struct model_byte {
  int writer, reader; /* -1 none, else a CTA; -2: several */
  bool strong_writer, strong_reader;
} model_byte;

static void model_join(int *who, bool *strong, int cta, bool is_strong) {
  *strong = is_strong && (*who == -1 || *strong);
  *who = *who == -1 || *who == cta ? cta : -2;
}

/* The rule of the header, byte by byte. */
static bool model_touch(model_byte *m, int cta, hd_access_kind kind, bool strong, bool same) {
  bool again = kind == HD_ACCESS_STORE && same && !m->strong_writer;
  if (m->writer != -1 && m->writer != cta && !again && !(strong && m->strong_writer)) return false;
  if (kind != HD_ACCESS_LOAD && m->reader != -1 && m->reader != cta && !(strong && m->strong_reader))
    return false;
  if (kind == HD_ACCESS_LOAD)
    model_join(&m->reader, &m->strong_reader, cta, strong);
  else
    model_join(&m->writer, &m->strong_writer, cta, strong);
  return true;
}

static void races_are_found_byte_by_byte(void **state) {
  hd_emu *e;
  hd_diag d;
  CHECK_OK(hd_emu_create(&(hd_emu_options){.checks = HD_CHECK_RACE, .memory = 1 << 20}, &e, &d), &d);
  uint64_t base;
  CHECK_OK(hd_emu_alloc(e, BYTES, &base, &d), &d);
  char *memory = hd_emu_ptr(e, base, BYTES);
  unsigned conflicts = 0, long_runs = 0, repeated = 0;
  for (unsigned run = 0; run < 3000; run++) {
    emu_race_log log;
    emu_race_begin(e, &log);
    uint32_t tickets[CTAS];
    for (int c = 0; c < CTAS; c++) tickets[c] = emu_race_ticket(e, &log, 100 + c);
    model_byte model[BYTES];
    for (int b = 0; b < BYTES; b++) model[b] = (model_byte){-1, -1, false, false};
    memset(memory, 0, BYTES);
    unsigned n = 0;
    for (bool ok = true; ok && n < 100; n++) {
      uint64_t x = hd_random_at(run, n);
      unsigned bytes = 1u << (x >> 8) % 4, at = (unsigned)((x >> 16) % (BYTES - bytes + 1));
      if ((x >> 24) % 4) at = at / bytes * bytes;
      /* Mostly one's own third, so that runs last. */
      int cta = (int)((x >> 32) % 8 ? at / 8 % CTAS : (x >> 40) % CTAS);
      hd_access_kind kind = (hd_access_kind)((x >> 48) % 3);
      const bool strong = kind == HD_ACCESS_ATOMIC || (x >> 60) % 4 == 0;
      emu_conflict why;
      const uint64_t addr[32] = {[7] = base + at};
      /* Stores of zeros mostly; the values of some are not known. */
      char rows[32 * 8] = {0};
      rows[7 * bytes] = (x >> 52) % 16 == 0;
      const bool known = (x >> 56) % 8 != 0;
      bool want = true, other = false;
      for (unsigned b = at; want && b < at + bytes; b++) {
        /* The check compares bytes in granules: four bytes, or a part of them. */
        unsigned lo = b / 4 * 4 > at ? b / 4 * 4 : at,
                 hi = b / 4 * 4 + 4 < at + bytes ? b / 4 * 4 + 4 : at + bytes;
        bool same = known && memcmp(rows + 7 * bytes + (lo - at), memory + lo, hi - lo) == 0;
        other |= model[b].writer != -1 && model[b].writer != cta;
        want = model_touch(&model[b], cta, kind, strong, same);
      }
      ok = emu_race_access(e, &log,
                           &(emu_race_by){.reads = tickets[cta],
                                          .writes = tickets[cta],
                                          .task = 100u + (unsigned)cta,
                                          .kind = kind,
                                          .strong = strong},
                           1u << 7, addr, bytes, known && kind == HD_ACCESS_STORE ? rows : NULL, &why);
      assert_int_equal(ok, want);
      repeated += ok && other && kind == HD_ACCESS_STORE;
      if (ok && kind == HD_ACCESS_STORE) memcpy(memory + at, rows + 7 * bytes, bytes);
      if (!ok) {
        const emu_race_task *other_task = emu_race_find(&log, why.other);
        assert_non_null(other_task);
        assert_true(other_task->task == UINT64_MAX ||
                    (other_task->task >= 100 && other_task->task < 100 + CTAS));
        assert_true(why.address >= addr[7] && why.address < addr[7] + bytes);
        assert_int_equal(why.lane, 7);
        conflicts++;
      }
    }
    long_runs += n > 10;
    emu_race_end(&log);
  }
  assert_true(conflicts > 1000);
  assert_true(long_runs > 300);
  assert_true(repeated > 100);
  hd_emu_destroy(e);
}

static void races_between_ctas_name_both(void **state) {
  kit k;
  open_kit(&k, HD_CHECK_RACE, HD_ISA_AUTO);
  KIT_CODE(&k, 0, ST(IMM_A, TID, 5), EXIT);
  assert_int_equal(kit_launch(&k, 2, 32), HD_ERR_FAULT);
  CHECK_MESSAGE(&k.d, "race between CTAs: store of 4 bytes");
  CHECK_MESSAGE(&k.d, "meets what CTA (0,0,0) wrote");
  CHECK_MESSAGE(&k.d, "in k, CTA (1,0,0)");
  CHECK_OK(kit_launch(&k, 1, 64), &k.d); /* and the launch before is forgotten */
  KIT_CODE(&k, 0, LD(R, IMM_A, TID), OP3(h_eq, P, CTAID, 2),
           {.fn = h_st, .src = {IMM_A, TID, 1}, .guarded = 1, .guard = P}, EXIT);
  assert_int_equal(kit_launch(&k, 3, 32), HD_ERR_FAULT);
  CHECK_MESSAGE(&k.d, "meets what several CTAs read");
  KIT_CODE(&k, 0, ATOM(h_atom_add, R, IMM_A, TID, 1), EXIT);
  CHECK_OK(kit_launch(&k, 9, 32), &k.d);
  KIT_CODE(&k, 0, ATOM(h_atom_add, R, IMM_A, TID, 1), LD(R, IMM_A, TID), EXIT);
  assert_int_equal(kit_launch(&k, 2, 32), HD_ERR_FAULT);
  kit_close(&k);
}

/* ---- Hooks ---------------------------------------------------------------------------------------- */

typedef struct seen {
  unsigned accesses, barriers, starts, ends;
  uint64_t warp_instructions;
  hd_access last;
  uint64_t last_addr[32];
} seen;
static void on_access(void *ctx, unsigned worker, const hd_access *a) {
  seen *s = ctx;
  s->accesses++;
  if (a->warp != 2) return;
  s->last = *a;
  memcpy(s->last_addr, a->addr, sizeof s->last_addr);
}
static void on_barrier(void *ctx, unsigned worker, uint64_t task, uint32_t warp) {
  ((seen *)ctx)->barriers++;
}
static void on_start(void *ctx, unsigned worker, uint64_t task, uint32_t sm) { ((seen *)ctx)->starts++; }
static void on_end(void *ctx, unsigned worker, uint64_t task, uint64_t warp, uint64_t thread) {
  ((seen *)ctx)->ends++;
  ((seen *)ctx)->warp_instructions += warp;
}

static void hooks_see_what_they_asked_for(void **state) {
  kit k;
  open_kit(&k, 0, HD_ISA_AUTO);
  k.codes[0].shared_bytes = 4096;
  static const emu_bar bar = {.kind = EMU_BAR_SYNC, .id_slot = 0};
  KIT_CODE(&k, 0, {.fn = h_st, .src = {36, TID, 1}, .mem = {.space = HD_SPACE_SHARED}}, BAR(&bar),
           ST(IMM_A, TID, 3), EXIT);
  for (unsigned spaces = 0; spaces < 4; spaces++) {
    seen s = {0};
    hd_emu_hooks h = {.ctx = &s,
                      .spaces = spaces,
                      .access = on_access,
                      .barrier = on_barrier,
                      .cta_start = on_start,
                      .cta_end = on_end};
    hd_emu_stats st;
    CHECK_OK(kit_launch_with(&k, 5, 70, NULL, &h, &st), &k.d);
    assert_int_equal(s.accesses, 15 * ((spaces & 1) + (spaces >> 1)));
    assert_int_equal(s.barriers, 15);
    assert_int_equal(s.starts, 5);
    assert_int_equal(s.ends, 5);
    assert_int_equal(s.warp_instructions, 60);
    assert_int_equal(st.warp_instructions, 60);
    if (!(spaces & 1)) continue;
    assert_int_equal(s.last.task, 4);
    assert_int_equal(s.last.warp, 2);
    assert_int_equal(s.last.line, 3);
    assert_int_equal(s.last.kind, HD_ACCESS_STORE);
    assert_int_equal(s.last.cache, HD_CACHE_L1);
    assert_int_equal(s.last.bytes, 4);
    assert_int_equal(s.last.mask, 0x3f);
    assert_int_equal(s.last_addr[5], k.a + 69 * 4);
  }
  kit_close(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("bounds and alignment hold for every lane, in every space and instruction set",
                bounds_and_alignment_hold_for_every_lane),
      BEHAVIOUR("a fault names address, allocation, place and thread", faults_name_what_happened),
      BEHAVIOUR(
          "accesses beside an allocation happen in its page, if asked for, and are told once an instruction",
          strays_happen_within_a_page),
      BEHAVIOUR("accesses in the last unit of shared memory happen, if asked for",
                strays_happen_behind_shared_memory),
      BEHAVIOUR("of many faults the first CTA's is reported, with any number of host threads",
                the_first_ctas_fault_counts),
      BEHAVIOUR("reads of memory never written are caught", unwritten_memory_is_caught),
      BEHAVIOUR("shared memory is unwritten when a CTA starts", shared_memory_is_unwritten_in_every_cta),
      BEHAVIOUR("races are found byte by byte", races_are_found_byte_by_byte),
      BEHAVIOUR("a race names both CTAs", races_between_ctas_name_both),
      BEHAVIOUR("hooks see the accesses, barriers and CTAs they asked for", hooks_see_what_they_asked_for),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
