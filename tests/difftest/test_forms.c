/* The catalogue against the emulator: nothing that one of them has is missing in the other. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "difftest/catalogue.h"
#include "emu/decode/decode.h"

static void ok(hd_status st, const hd_diag *d) {
  if (st != HD_OK) fail_msg("%s", d->message);
}

/* ---- Decoding ------------------------------------------------------------------------- */

enum { STEP = 128, SPECIAL_HANDLERS = 64 };

typedef struct seen {
  emu_fn **handlers;
  size_t n, cap;
  bool ops[HD_OP_COUNT];
} seen;

static void note_handler(seen *s, emu_fn *fn) {
  for (size_t k = 0; k < s->n; k++)
    if (s->handlers[k] == fn) return;
  if (s->n == s->cap)
    s->handlers = realloc(s->handlers, (s->cap = s->cap ? 2 * s->cap : 1024) * sizeof *s->handlers);
  s->handlers[s->n++] = fn;
}

static uint64_t address_of(void *ctx, uint32_t var, bool *found) {
  *found = true;
  return EMU_GLOBAL_BASE + 256ull * var;
}

/* Every form of the catalogue, decoded alone. A form that is refused is a mistake of either side. */
static void decode_forms(seen *s) {
  const uint64_t n = hd_difftest_forms();
  for (uint64_t first = 0; first < n; first += STEP) {
    const uint32_t count = n - first < STEP ? (uint32_t)(n - first) : STEP;
    hd_buf text = {0};
    hd_arena arena;
    hd_ptx_module *m;
    emu_code **codes;
    hd_diag d = {0};
    hd_arena_init(&arena);
    ok(hd_difftest_form_module(first, count, &text, &d), &d);
    ok(hd_ptx_parse(text.data, text.len, "forms", &arena, &m, &d), &d);
    const emu_decode_env env = {.m = m, .arena = &arena, .isa = HD_ISA_PORTABLE, .address_of = address_of};
    ok(emu_decode_module(&env, &codes, &d), &d);
    for (uint32_t f = 0; f < m->n_funcs; f++) {
      if (!codes[f]) continue;
      if (codes[f]->unsupported.status != HD_OK) fail_msg("%s", codes[f]->unsupported.message);
      for (uint32_t k = 0; k < codes[f]->n_insts; k++)
        if (codes[f]->insts[k].fn) note_handler(s, codes[f]->insts[k].fn);
    }
    for (uint32_t k = 0; k < m->n_forms; k++) s->ops[m->forms[k].op] = true;
    hd_arena_free(&arena);
    hd_buf_free(&text);
  }
}

/* ---- Completeness --------------------------------------------------------------------------- */

static bool is_listed(const char *name, const char *const *list) {
  for (; *list; list++)
    if (strcmp(*list, name) == 0) return true;
  return false;
}

static void every_handler_of_the_emulator_is_reached(void **state) {
  /* There is no f64 vector of atom: the handler comes with a macro. The others are of sm_100 and sm_120;
   * tests of the emulator's hold them against what they mean. */
  static const char *const unreachable[] = {
      "atom.v.64", "ldmatrix.m16n16", "ldmatrix.m8n16", "mma.scaled", "stmatrix.m16n8", "tcgen05.mma", NULL};
  seen s = {0};
  unsigned missing = 0;
  decode_forms(&s);
  for (const emu_op *const *t = emu_op_tables(HD_ISA_PORTABLE); *t; t++) {
    for (const emu_op *op = *t; op->name; op++) {
      bool found = false;
      for (size_t k = 0; k < s.n; k++) found |= s.handlers[k] == op->fn;
      if (found == is_listed(op->name, unreachable)) {
        print_message("%s handler %s\n", found ? "reached:" : "no form reaches", op->name);
        missing++;
      }
    }
  }
  free(s.handlers);
  assert_int_equal(missing, 0);
}

/* Does the emulator know the opcode at all? It says so in other words when only the form is wrong. */
static bool emulator_knows(const char *opcode) {
  char text[256];
  hd_arena arena;
  hd_ptx_module *m;
  emu_code **codes;
  hd_diag d = {0};
  hd_arena_init(&arena);
  snprintf(text, sizeof text, ".version 8.7\n.target sm_90a\n.address_size 64\n.entry k()\n{\n%s;\n}\n",
           opcode);
  ok(hd_ptx_parse(text, strlen(text), "opcode", &arena, &m, &d), &d);
  const emu_decode_env env = {.m = m, .arena = &arena, .isa = HD_ISA_PORTABLE, .address_of = address_of};
  ok(emu_decode_module(&env, &codes, &d), &d);
  const bool known = !strstr(codes[0]->unsupported.message, "does not know this instruction");
  hd_arena_free(&arena);
  return known;
}

static void every_opcode_of_the_emulator_has_a_form(void **state) {
  static const char *const left_out[] = {
      "trap", "brkpt",        /* end the launch */
      "exit",                 /* its threads would not store their results */
      "tensormap",            /* a map's bytes are each device's own */
      "clusterlaunchcontrol", /* which cluster it gets, the schedule says */
      "multimem", "tcgen05",  /* memory that no other instruction reaches */
      /* objects too; bench/textures compares what they read */
      "tex", "tld4", "txq", "suld", "sust", "sured", "suq", NULL};
  seen s = {0};
  unsigned wrong = 0;
  decode_forms(&s);
  for (hd_ptx_op op = 1; op < HD_OP_COUNT; op++) {
    const bool known = emulator_knows(hd_ptx_op_text(op)) && !is_listed(hd_ptx_op_text(op), left_out);
    if (known == s.ops[op]) continue;
    print_message("%s %s\n",
                  known ? "no form of" : "a form of an unknown or left out opcode:", hd_ptx_op_text(op));
    wrong++;
  }
  free(s.handlers);
  assert_int_equal(wrong, 0);
}

/* ---- The templates themselves ------------------------------------------------------------------ */

static void alternatives_multiply(void **state) {
  const dt_row row = {0, 0, "(a|b)(.x|.y|).z ${=2}, ${2?}, f(q), $1 ${@4};"};
  dt_pattern p;
  hd_buf out = {0};
  dt_pattern_read(&row, &p);
  assert_int_equal(p.n_forms, 6);
  dt_pattern_expand(&p, 4, &out);
  assert_string_equal(out.data, "b.y.z ${=y}, ${y?}, f(q), b ${@4};");
  hd_buf_clear(&out);
  dt_pattern_expand(&p, 2, &out);
  assert_string_equal(out.data, "a.z ${=}, ${?}, f(q), a ${@4};");
  hd_buf_free(&out);
}

static void form_numbers_run_through_all_rows(void **state) {
  uint64_t sum = 0;
  for (uint32_t k = 0; k < dt_row_count(); k++) {
    dt_pattern p;
    uint64_t choice;
    dt_pattern_read(dt_row_at(k), &p);
    assert_ptr_equal(dt_form_row(sum, &choice), dt_row_at(k));
    assert_int_equal(choice, 0);
    assert_ptr_equal(dt_form_row(sum + p.n_forms - 1, &choice), dt_row_at(k));
    sum += p.n_forms;
  }
  assert_int_equal(sum, hd_difftest_forms());
  assert_true(sum > 4000);
}

/* ---- ptxas ------------------------------------------------------------------------------------------ */

static void ptxas_takes_programs(void **state) {
  if (system("ptxas --version >/dev/null 2>&1") != 0) skip();
  char ptx[] = "/tmp/heddle-difftest-XXXXXX", command[256];
  const int fd = mkstemp(ptx);
  const hd_difftest_select s = {.sm = 90};
  hd_buf text = {0};
  hd_diag d = {0};
  assert_true(fd >= 0);
  ok(hd_difftest_module(&s, 3, 0, 60, &text, &d), &d);
  assert_int_equal(write(fd, text.data, text.len), (ssize_t)text.len);
  close(fd);
  snprintf(command, sizeof command, "ptxas -arch=sm_90a -O1 %s -o /dev/null 2>&1", ptx);
  const int rc = system(command);
  unlink(ptx);
  hd_buf_free(&text);
  assert_int_equal(rc, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every handler of the emulator is reached by a form",
                every_handler_of_the_emulator_is_reached),
      BEHAVIOUR("every opcode of the emulator has a form", every_opcode_of_the_emulator_has_a_form),
      BEHAVIOUR("alternatives multiply", alternatives_multiply),
      BEHAVIOUR("form numbers run through all rows", form_numbers_run_through_all_rows),
      BEHAVIOUR("ptxas takes programs", ptxas_takes_programs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
