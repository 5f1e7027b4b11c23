/* Random modules: written with random blanks, read, printed, read and printed again. */
#include "ptx_test.h"

/* The random choices of one module, as they are drawn. */
typedef struct writer {
  hd_buf out;
  uint64_t seed, drawn;
  unsigned labels, blocks;
  unsigned stmts; /* written at any depth, without closing braces */
} writer;

static unsigned draw(writer *w, unsigned n) { return (unsigned)(hd_random_at(w->seed, w->drawn++) % n); }

#define PICK(w, ...)                                                                                         \
  ((const char *const[]){__VA_ARGS__}[draw((w), sizeof(const char *[]){__VA_ARGS__} / sizeof(char *))])

/* Blanks where some must be, or may be. */
static void gap(writer *w, bool needed) {
  hd_buf_puts(&w->out,
              PICK(w, needed ? " " : "", needed ? " " : "", " ", "\t", "\n", " /* c; } */ ", " // d \"\n"));
}

static void put(writer *w, const char *text) {
  hd_buf_puts(&w->out, text);
  gap(w, false);
}

static void reg(writer *w) {
  hd_buf_printf(&w->out, "%s%u", PICK(w, "%r", "%rd", "%f", "%p", "plain"), draw(w, 40));
}

static void number(writer *w) {
  switch (draw(w, 7)) {
  case 0: hd_buf_printf(&w->out, "%u", draw(w, 1000)); break;
  case 1: hd_buf_printf(&w->out, "-%u", draw(w, 1u << 31)); break;
  case 2: hd_buf_printf(&w->out, "0x%llxU", (unsigned long long)hd_random_at(w->seed, w->drawn++)); break;
  case 3: hd_buf_printf(&w->out, "0f%08x", draw(w, UINT32_MAX)); break;
  case 4: hd_buf_printf(&w->out, "0D%016llX", (unsigned long long)hd_random_at(w->seed, w->drawn++)); break;
  case 5: hd_buf_printf(&w->out, "%u.%ue-%u", draw(w, 100), draw(w, 100), draw(w, 20)); break;
  default: hd_buf_printf(&w->out, "%u+(1<<%u)*WARP_SZ-%u", draw(w, 9), draw(w, 30), draw(w, 9));
  }
}

static void operand(writer *w, unsigned depth);

static void operands(writer *w, unsigned n, unsigned depth) {
  for (unsigned i = 0; i < n; i++) {
    if (i) put(w, ",");
    operand(w, depth);
    gap(w, false);
  }
}

static void operand(writer *w, unsigned depth) {
  switch (draw(w, depth > 3 ? 6 : 14)) {
  case 0:
  case 1:
  case 2: reg(w); break;
  case 3: number(w); break;
  case 4:
    hd_buf_puts(&w->out,
                PICK(w, "%tid.x", "%clock64", "_", "table", "table + 16", "table+-4", "%newsreg", "nowhere"));
    break;
  case 5: hd_buf_printf(&w->out, "L%u", draw(w, 12)); break;
  case 6:
    hd_buf_puts(&w->out, "[");
    reg(w);
    hd_buf_printf(&w->out, "%s]", PICK(w, "", "+8", " + 4*2", "-12", "+0"));
    break;
  case 7: hd_buf_puts(&w->out, PICK(w, "[table]", "[64]", "[table+8]", "table[2]")); break;
  case 8:
    put(w, "{");
    operands(w, draw(w, 5), depth + 1);
    hd_buf_puts(&w->out, "}");
    break;
  case 9:
    put(w, "[");
    reg(w);
    put(w, PICK(w, "", "+4"));
    put(w, ",");
    operands(w, 1 + draw(w, 2), depth + 1);
    hd_buf_puts(&w->out, "]");
    break;
  case 10:
    reg(w);
    gap(w, false);
    put(w, "|");
    reg(w);
    break;
  case 11: hd_buf_puts(&w->out, PICK(w, "!%p3", "-%r5", "-%r5.b1", "%r7.h0", "vec.x", "vec .w")); break;
  case 12: hd_buf_puts(&w->out, "(table)"); break;
  default: hd_buf_puts(&w->out, PICK(w, "table", "[%rd3]", "[%rd3+1234567]"));
  }
}

static void word(writer *w) {
  hd_buf_puts(&w->out, PICK(w, "add", "ld", "call", "mov", "setp", "frob"));
  for (unsigned i = draw(w, 6); i > 0; i--)
    hd_buf_printf(&w->out, "%s.%s", draw(w, 20) ? "" : " ",
                  PICK(w, "f32", "global", "L1::no_allocate", "v4", "strange", "u64"));
}

static void statements(writer *w, unsigned n, unsigned depth) {
  for (unsigned i = 0; i < n; i++, w->stmts++) {
    switch (draw(w, 16)) {
    case 0:
      if (depth < 5) {
        put(w, "{");
        if (draw(w, 2)) put(w, ".reg .b64 %r<20>, extra;"), w->stmts += 2;
        statements(w, draw(w, 8), depth + 1);
        put(w, "}");
        w->stmts++;
        break;
      } /* fall through */
    case 1: hd_buf_printf(&w->out, "M%u: ", w->labels++); break;
    case 2:
      put(w, ".loc 1 2 3");
      hd_buf_puts(&w->out, "\n");
      break;
    case 3: put(w, ".pragma \"a { b\";"); break;
    case 4: hd_buf_printf(&w->out, "M%u: .branchtargets L1, L2;", w->labels++); break;
    case 5:
      hd_buf_printf(&w->out, "M%u: .callprototype (.param .b32 _) _ (.param .b8 _[4]);", w->labels++);
      break;
    case 6: put(w, "@%p1 "); /* fall through */
    default:
      word(w);
      gap(w, true);
      operands(w, draw(w, 5), 0);
      put(w, ";");
    }
  }
}

static void module(writer *w, uint64_t seed) {
  *w = (writer){.seed = seed};
  hd_buf_puts(&w->out, HEADER ".global .align 16 .b8 table[64] = {1, 2, {3, 0x10}, 1.5};\n");
  for (unsigned i = draw(w, 4); i > 0; i--)
    hd_buf_printf(&w->out, ".%s .%s v%u%s;", PICK(w, "global", "const", "shared"),
                  PICK(w, "u32", "f64", "b8"), i, PICK(w, "", "[4]", "[2][3]", " = 5"));
  gap(w, false);
  put(w, ".visible");
  put(w, ".entry k(.param .u64 a, .param .align 8 .b8 b[24])");
  put(w, PICK(w, "", ".maxntid 32", ".minnctapersm 2 .maxnreg 64"));
  put(w, "{");
  put(w, ".reg .b32 %r<40>, plain<40>; .reg .b64 %rd<40>; .reg .f32 %f<40>; .reg .pred %p<40>; .reg .v4 .f32 "
         "vec;");
  w->stmts = 6;
  for (unsigned i = 0; i < 6; i++, w->stmts++) hd_buf_printf(&w->out, "L%u:", i);
  statements(w, draw(w, 60), 0);
  put(w, "}");
}

static bool has_kids(const hd_ptx_opnd *o) {
  switch (o->kind) {
  case HD_O_VEC:
  case HD_O_LIST:
  case HD_O_BRACKET:
  case HD_O_PAIR:
  case HD_O_INDEX: return true;
  default: return false;
  }
}

/* Both modules say the same, statement by statement. */
static void same_statements(const hd_ptx_module *a, const hd_ptx_module *b) {
  const hd_ptx_func *f = &a->funcs[0], *g = &b->funcs[0];
  assert_int_equal(f->n_stmts, g->n_stmts);
  assert_int_equal(f->n_regs, g->n_regs);
  for (uint32_t i = 0; i < f->n_stmts; i++) {
    const hd_ptx_stmt *s = &f->stmts[i], *t = &g->stmts[i];
    assert_int_equal(s->kind, t->kind);
    assert_int_equal(s->n_opnds, t->n_opnds);
    assert_int_equal(s->guard_neg, t->guard_neg);
    assert_string_equal(a->syms[s->guard].name, b->syms[t->guard].name);
    if (s->kind == HD_S_INST) assert_string_equal(a->forms[s->form].text, b->forms[t->form].text);
    for (uint32_t k = 0; k < s->n_opnds; k++) {
      const hd_ptx_opnd *x = &a->opnds[s->first_opnd + k], *y = &b->opnds[t->first_opnd + k];
      assert_int_equal(x->kind, y->kind);
      assert_int_equal(x->flags, y->flags);
      if (has_kids(x))
        assert_int_equal(x->n_kids, y->n_kids);
      else
        assert_true(x->bits == y->bits);
    }
  }
}

/* Every index in the module is within its array, and every register operand knows
 * its number. */
static void module_is_sound(const hd_ptx_module *m) {
  const hd_ptx_func *f = &m->funcs[0];
  for (uint32_t i = 0; i < f->n_stmts; i++)
    assert_true((uint64_t)f->stmts[i].first_opnd + f->stmts[i].n_opnds <= m->n_opnds);
  for (uint32_t i = 0; i < m->n_opnds; i++) {
    const hd_ptx_opnd *o = &m->opnds[i];
    assert_int_equal(o->flags & ~(HD_OF_NEG | HD_OF_UNSIGNED | HD_OF_ZERO), 0);
    if (has_kids(o)) {
      assert_true((uint64_t)o->sym + o->n_kids <= m->n_opnds);
    } else if (o->kind == HD_O_REG) {
      assert_int_equal(m->syms[o->sym].kind, HD_SYM_REG);
      assert_true(m->syms[o->sym].index < f->n_regs);
    } else {
      assert_true(o->sym < m->n_syms);
    }
  }
}

static void random_modules_survive_the_round_trip(void **state) {
  for (uint64_t seed = 0; seed < 1500; seed++) {
    writer w;
    module(&w, seed);
    hd_arena a, b;
    hd_arena_init(&a);
    hd_arena_init(&b);
    hd_ptx_module *m = parse(&a, w.out.data);
    module_is_sound(m);
    assert_int_equal(m->funcs[0].n_stmts, w.stmts);
    char *once = print(m);
    hd_ptx_module *m2 = parse(&b, once);
    char *twice = print(m2);
    assert_string_equal(once, twice);
    same_statements(m, m2);
    free(once);
    free(twice);
    hd_buf_free(&w.out);
    hd_arena_free(&a);
    hd_arena_free(&b);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("random modules survive the round trip", random_modules_survive_the_round_trip),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
