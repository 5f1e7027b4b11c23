/* Any module under any plan is refused, or rewritten to text that parses; a kernel whose result no schedule
 * can change computes the same bytes as before, under two dispatchers. The first byte picks one: drawn
 * Kernel, plan, options and launch are drawn from the bytes (tests/rewrite/generated.h). given    The bytes
 * are a plan, a line break and a module. Its kernels run in a tiny launch. Results are compared where the
 * original touches no shared memory, and each byte of global memory that a thread writes is touched by no
 * other thread. damaged  A drawn kernel and plan, of which lines are dropped, doubled and exchanged. */
#include "rewrite/generated.h"

static void require(bool ok) {
  if (!ok) abort();
}

/* ---- Drawn ----------------------------------------------------------------------------------- */

static void fuzz_drawn(const uint8_t *data, size_t size) {
  gen_source s = {data, data + size};
  hd_buf kernel = {0}, plan = {0};
  hd_diag d = {0};
  gen_launch l = gen_draw_launch(&s);
  hd_rewrite_options o = gen_draw_options(&s, &l);
  const hd_dispatch_kind how[2] = {(hd_dispatch_kind)gen_below(&s, HD_DISPATCH_COUNT),
                                   (hd_dispatch_kind)gen_below(&s, HD_DISPATCH_COUNT)};
  gen_draw_plan(&s, &plan);
  gen_draw_kernel(&s, &kernel);
  if (gen_compare(kernel.data, plan.data, &l, o, how, &d) == GEN_WRONG) {
    fprintf(stderr, "%s, grid %ux%ux%u, block %ux%ux%u: %s\n%s", plan.data, l.grid[0], l.grid[1], l.grid[2],
            l.block[0], l.block[1], l.block[2], d.message, kernel.data);
    abort();
  }
  hd_buf_free(&kernel);
  hd_buf_free(&plan);
}

/* ---- Given -------------------------------------------------------------------------------------- */

enum { BUFFER = 8192, MOST_PARAM_BYTES = 4096 };

/* Where in the buffer the pointers of a kernel point, in turn. */
static const uint64_t POINTERS[3] = {0, 4096, 6144};

static const gen_launch tiny = {.grid = {3, 2, 1}, .block = {40, 1, 1}};

/* The thread that touched each byte of the buffer: 1 + its number; SEVERAL. */
enum { SEVERAL = UINT16_MAX };
typedef struct owners {
  uint64_t buffer;
  uint16_t reader[BUFFER], writer[BUFFER];
  bool mixed;
} owners;

static void note(uint16_t *who, uint16_t thread) {
  if (*who != thread) *who = *who ? SEVERAL : thread;
}

static void on_access(void *ctx, unsigned worker, const hd_access *a) {
  owners *o = ctx;
  (void)worker;
  if (a->space == HD_SPACE_SHARED || a->kind == HD_ACCESS_ATOMIC) o->mixed = true;
  if (a->space != HD_SPACE_GLOBAL || a->kind == HD_ACCESS_PREFETCH) return;
  for (unsigned lane = 0; lane < 32; lane++) {
    if (!(a->mask >> lane & 1)) continue;
    for (uint64_t at = a->addr[lane] - o->buffer, end = at + a->bytes; at < end; at++)
      if (at < BUFFER)
        note(a->kind == HD_ACCESS_LOAD ? &o->reader[at] : &o->writer[at],
             (uint16_t)(1 + a->task * 64 + a->warp * 32 + lane));
  }
}

static bool is_private(const owners *o) {
  if (o->mixed) return false;
  for (unsigned i = 0; i < BUFFER; i++)
    if (o->writer[i] == SEVERAL || (o->writer[i] && o->reader[i] && o->reader[i] != o->writer[i]))
      return false;
  return true;
}

/* A kernel's parameters of 8 bytes point into one buffer. *left: its contents afterwards. */
static hd_status run(const hd_ptx_module *m, uint32_t func, uint32_t n_params, const hd_recipe *r,
                     hd_dispatch_kind how, owners *who, uint8_t left[BUFFER]) {
  const hd_ptx_func *f = &m->funcs[func];
  hd_emu_options o = {.threads = 1, .sm = 80, .n_sms = GEN_SMS, .memory = 1 << 20, .max_instructions = 4000};
  hd_emu *e;
  hd_emu_program *p = NULL;
  uint64_t buffer = 0, state = 0, *offsets = calloc(f->n_params + 1u, sizeof *offsets);
  uint64_t bytes = hd_ptx_param_layout(m, f, offsets);
  char *params = calloc(1, MOST_PARAM_BYTES + 64);
  hd_diag d = {0};
  hd_status st = bytes > MOST_PARAM_BYTES ? HD_ERR_UNSUPPORTED : hd_emu_create(&o, &e, &d);
  if (st != HD_OK) goto out;
  st = hd_emu_load(e, m, &p, &d);
  if (st == HD_OK) st = hd_emu_alloc(e, BUFFER, &buffer, &d);
  if (st == HD_OK && r->state_bytes) st = hd_emu_alloc(e, r->state_bytes, &state, &d);
  if (st == HD_OK) {
    uint8_t *at = hd_emu_ptr(e, buffer, BUFFER);
    for (unsigned i = 0; i < BUFFER; i++) at[i] = (uint8_t)(i * 37);
    hd_emu_mark_written(e, buffer, BUFFER);
    if (state) memset(hd_emu_ptr(e, state, r->state_bytes), 0, r->state_bytes);
    if (state) hd_emu_mark_written(e, state, r->state_bytes);
    for (uint32_t k = 0; k < n_params; k++) {
      uint64_t size = hd_ptx_var_size(m, &m->vars[f->first_param + k]),
               v = size == 8 ? buffer + POINTERS[k % 3] : 40;
      memcpy(params + offsets[k], &v, size < 8 ? size : 8);
    }
    hd_recipe_params(r, tiny.grid, state, 0, params);
    hd_emu_launch_params l = {.kernel = m->syms[f->sym].name,
                              .block = {tiny.block[0], 1, 1},
                              .dynamic_shared = 256,
                              .args = params,
                              .args_bytes = bytes};
    hd_recipe_grid(r, tiny.grid, GEN_SMS, GEN_RESIDENT, l.grid);
    hd_dispatch dispatch = {.kind = how, .seed = 5, .resident = GEN_RESIDENT};
    hd_emu_hooks hooks = {
        .ctx = who, .spaces = 1 << HD_SPACE_GLOBAL | 1 << HD_SPACE_SHARED, .access = on_access};
    hd_emu_stats stats;
    if (who) who->buffer = buffer;
    st = hd_emu_launch(p, &l, &dispatch, who ? &hooks : NULL, &stats, &d);
    memcpy(left, hd_emu_ptr(e, buffer, BUFFER), BUFFER);
  }
  if (p) hd_emu_unload(p);
  hd_emu_destroy(e);
out:
  free(params);
  free(offsets);
  return st;
}

static void compare(const hd_ptx_module *original, const hd_ptx_module *m, uint32_t func, const hd_recipe *r,
                    const char *plan, bool known) {
  static const hd_recipe none;
  static owners who;
  uint8_t expected[BUFFER], left[BUFFER];
  uint32_t n_params = original->funcs[func].n_params;
  memset(&who, 0, sizeof who);
  if (run(original, func, n_params, &none, HD_DISPATCH_ROUND_ROBIN, &who, expected) != HD_OK) return;
  if (!is_private(&who) || r->table_bytes) return;
  static const hd_dispatch_kind HOW[] = {HD_DISPATCH_SHUFFLED, HD_DISPATCH_ONE_SM};
  for (unsigned k = 0; k < 2; k++) {
    hd_status st = run(m, func, n_params, r, HOW[k], NULL, left);
    /* Workers do several tasks, and have as many instructions as one task of the original. */
    if (st != HD_OK || memcmp(expected, left, BUFFER) == 0) continue;
    hd_buf text = {0};
    hd_ptx_print(original, &text);
    fprintf(stderr, "%s, %s grid, differs under %s:\n%s", plan, known ? "known" : "any",
            hd_dispatch_name(HOW[k]), text.data);
    abort();
  }
}

static void fuzz_given(const char *text, size_t len) {
  const char *line = memchr(text, '\n', len);
  if (!line) return;
  char *notation = strndup(text, (size_t)(line - text));
  size_t rest = len - (size_t)(line + 1 - text);
  hd_plan p;
  hd_diag d = {0};
  if (hd_plan_parse(notation, &p, &d) == HD_OK) {
    for (unsigned known = 0; known < 2; known++) {
      hd_arena arena;
      hd_ptx_module *original, *m, *again;
      hd_buf out = {0}, twice = {0};
      hd_rewrite_options o = {.grid = {.known = known, .g = {3, 2, 1}, .n_sms = 4},
                              .block = {known ? 40 : 0, 1, 1}};
      hd_recipe r;
      if (!known) memset(o.block, 0, sizeof o.block);
      hd_arena_init(&arena);
      arena.limit = 64 << 20;
      if (hd_ptx_parse(line + 1, rest, "original", &arena, &original, &d) == HD_OK)
        for (uint32_t f = 0; f < original->n_funcs; f++) {
          if (!original->funcs[f].entry) continue;
          require(hd_ptx_parse(line + 1, rest, "module", &arena, &m, &d) == HD_OK ||
                  d.status == HD_ERR_NOMEM);
          hd_status st = d.status == HD_ERR_NOMEM ? HD_ERR_NOMEM : hd_rewrite(m, f, &p, &o, &r, &d);
          if (st != HD_OK) {
            require(d.status == st && d.message[0]);
            if (st == HD_ERR_NOMEM) break;
            continue;
          }
          hd_buf_clear(&out);
          hd_buf_clear(&twice);
          require(hd_ptx_print(m, &out) == HD_OK);
          st = hd_ptx_parse(out.data, out.len, "rewritten", &arena, &again, &d);
          if (st == HD_ERR_NOMEM) break;
          require(st == HD_OK);
          again->funcs[f].remark = m->funcs[f].remark;
          require(hd_ptx_print(again, &twice) == HD_OK && strcmp(out.data, twice.data) == 0);
          compare(original, again, f, &r, notation, known);
        }
      hd_buf_free(&out);
      hd_buf_free(&twice);
      hd_arena_free(&arena);
    }
  }
  free(notation);
}

/* ---- Damaged -------------------------------------------------------------------------------------- */

enum { MOST_LINES = 400 };

static void fuzz_damaged(const uint8_t *data, size_t size) {
  gen_source s = {data, data + size};
  hd_buf text = {0}, out = {0};
  const char *lines[MOST_LINES];
  size_t n = 0;
  uint32_t edits = 1 + gen_below(&s, 6), at[6][3];
  for (uint32_t k = 0; k < edits; k++)
    for (unsigned i = 0; i < 3; i++) at[k][i] = gen_byte(&s);
  gen_draw_plan(&s, &out);
  hd_buf_putc(&out, '\n');
  gen_draw_kernel(&s, &text);
  for (char *line = strtok(text.data, "\n"); line && n < MOST_LINES - 8; line = strtok(NULL, "\n"))
    lines[n++] = line;
  for (uint32_t k = 0; k < edits; k++) {
    size_t from = at[k][0] % n, to = at[k][1] % n;
    const char *held = lines[from];
    switch (at[k][2] % 3) {
    case 0: /* dropped */ lines[from] = ""; break;
    case 1: /* doubled, elsewhere */
      memmove(lines + to + 1, lines + to, (n++ - to) * sizeof *lines);
      lines[to] = held;
      break;
    default: /* exchanged */
      lines[from] = lines[to];
      lines[to] = held;
      break;
    }
  }
  for (size_t i = 0; i < n; i++) hd_buf_printf(&out, "%s\n", lines[i]);
  fuzz_given(out.data, out.len);
  hd_buf_free(&text);
  hd_buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2) return 0;
  switch (data[0] % 3) {
  case 0: fuzz_drawn(data + 1, size - 1); break;
  case 1: fuzz_given((const char *)data + 1, size - 1); break;
  default: fuzz_damaged(data + 1, size - 1); break;
  }
  return 0;
}
