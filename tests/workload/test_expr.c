/* Size expressions: generated ones against 128-bit arithmetic, and refusals. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "workload/workload.h"

static const wl_name NAMES[] = {{"big", INT64_MAX}, {"n", 512}, {"neg", -7}, {"zero", 0}};
static const wl_names ALL = {NAMES, 4};

/* ---- Generated expressions ---------------------------------------------------------- */

typedef struct generator {
  uint64_t seed, at;
  hd_buf text;
} generator;

typedef struct outcome {
  bool ok;
  __int128 v;
} outcome;

static uint64_t draw(generator *g, uint64_t below) { return hd_random_at(g->seed, g->at++) % below; }

static outcome checked(bool ok, __int128 v) {
  return (outcome){.ok = ok && v >= INT64_MIN && v <= INT64_MAX, .v = v};
}

static void blank(generator *g) {
  if (draw(g, 3) == 0) hd_buf_puts(&g->text, draw(g, 2) ? " " : "\t ");
}

static __int128 divide_up(__int128 a, __int128 b) { return (a + b - 1) / b; }

/* Precedences: 0 sum, 1 product, 2 unary, 3 primary. Writes an expression of at least that
 * precedence and returns its value. */
static outcome generate(generator *g, unsigned depth, unsigned precedence);

static outcome generate_primary(generator *g, unsigned depth) {
  static const char *const functions[] = {"ceil_div", "round_up", "min", "max", "pow2", "log2"};
  unsigned kind = (unsigned)draw(g, depth ? 6 : 3);
  blank(g);
  if (kind < 2) {
    uint64_t v = draw(g, 4) ? draw(g, 100) : hd_random_at(g->seed, g->at++) >> (1 + draw(g, 63));
    hd_buf_printf(&g->text, "%llu", (unsigned long long)v);
    return (outcome){.ok = true, .v = (__int128)v};
  }
  if (kind == 2) {
    const wl_name *name = &NAMES[draw(g, 4)];
    hd_buf_puts(&g->text, name->name);
    return (outcome){.ok = true, .v = name->value};
  }
  if (kind == 3) {
    unsigned f = (unsigned)draw(g, 6);
    hd_buf_printf(&g->text, "%s(", functions[f]);
    outcome a = generate(g, depth - 1, 0), b = {.ok = true};
    if (f < 4) {
      hd_buf_puts(&g->text, ",");
      b = generate(g, depth - 1, 0);
    }
    blank(g);
    hd_buf_puts(&g->text, ")");
    if (!a.ok || !b.ok) return (outcome){0};
    switch (f) {
    case 0: return a.v >= 0 && b.v > 0 ? checked(true, divide_up(a.v, b.v)) : (outcome){0};
    case 1: return a.v >= 0 && b.v > 0 ? checked(true, divide_up(a.v, b.v) * b.v) : (outcome){0};
    case 2: return checked(true, a.v < b.v ? a.v : b.v);
    case 3: return checked(true, a.v > b.v ? a.v : b.v);
    case 4: return a.v >= 0 && a.v <= 62 ? checked(true, (__int128)1 << (int)a.v) : (outcome){0};
    default: {
      int k = 0;
      if (a.v <= 0) return (outcome){0};
      while (a.v >> (k + 1)) k++;
      return checked(true, k);
    }
    }
  }
  hd_buf_puts(&g->text, "(");
  outcome r = generate(g, depth - 1, 0);
  blank(g);
  hd_buf_puts(&g->text, ")");
  return r;
}

static outcome generate(generator *g, unsigned depth, unsigned precedence) {
  unsigned level = depth ? precedence + (unsigned)draw(g, 4 - precedence) : 3;
  if (level == 3) return generate_primary(g, depth);
  if (level == 2) {
    bool minus = draw(g, 4) != 0;
    blank(g);
    hd_buf_puts(&g->text, minus ? "-" : "+");
    outcome a = generate(g, depth - 1, 2);
    return checked(a.ok, minus ? -a.v : a.v);
  }
  outcome a = generate(g, depth - 1, level);
  char op = level == 0 ? "+-"[draw(g, 2)] : "*/%"[draw(g, 3)];
  blank(g);
  hd_buf_putc(&g->text, op);
  outcome b = generate(g, depth - 1, level + 1);
  if (!a.ok || !b.ok) return (outcome){0};
  switch (op) {
  case '+': return checked(true, a.v + b.v);
  case '-': return checked(true, a.v - b.v);
  case '*': return checked(true, a.v * b.v);
  case '/': return b.v ? checked(true, a.v / b.v) : (outcome){0};
  default: return b.v ? checked(true, a.v % b.v) : (outcome){0};
  }
}

static void generated_expressions_have_the_value_of_128_bit_arithmetic(void **state) {
  unsigned good = 0, bad = 0;
  for (uint64_t seed = 0; seed < 300000; seed++) {
    generator g = {.seed = seed};
    outcome want = generate(&g, 1 + (unsigned)(seed % 5), 0);
    int64_t got = 0;
    wl_error e;
    bool ok = wl_eval(g.text.data, g.text.len, ALL, &got, &e);
    if (ok != want.ok || (ok && got != (int64_t)want.v))
      fail_msg("seed %llu: %s", (unsigned long long)seed, g.text.data);
    if (!ok) assert_true(e.offset <= g.text.len && e.message[0]);
    ok ? good++ : bad++;
    hd_buf_free(&g.text);
  }
  assert_true(good > 10000 && bad > 1000); /* the generator reaches both */
}

/* ---- Refusals ---------------------------------------------------------------------------- */

static void a_wrong_expression_is_refused_with_its_place(void **state) {
  static const struct {
    const char *text;
    size_t offset;
    const char *message;
  } cases[] = {
      {"", 0, "the expression ends where a number, a name or '(' should follow"},
      {"n +", 3, "the expression ends where a number, a name or '(' should follow"},
      {"n * * 2", 4, "expected a number, a name or '('"},
      {"(n + 1", 0, "this '(' is not closed"},
      {"n 2", 2, "expected an operator or the end of the expression"},
      {"n)", 1, "expected an operator or the end of the expression"},
      {"m", 0, "unknown name 'm' (this size has: big, n, neg, zero)"},
      {"2*N", 2, "unknown name 'N' (this size has: big, n, neg, zero)"},
      {"1.5", 0, "'1.5' is no decimal integer"},
      {"0x10", 0, "'0x10' is no decimal integer"},
      {"9223372036854775808", 0, "the number does not fit in 64 bits"},
      {"1 + big", 2, "'+' overflows 64 bits"},
      {"big * big", 4, "'*' overflows 64 bits"},
      {"-big - 2", 5, "'-' overflows 64 bits"},
      {"n / zero", 2, "'/' divides by zero"},
      {"n % (1 - 1)", 2, "'%' divides by zero"},
      {"1 + (-big - 1) / -1", 15, "'/' overflows 64 bits"},
      {"-(-big - 1)", 0, "'-' overflows 64 bits"},
      {"min(1)", 0, "min takes 2 arguments, not 1"},
      {"pow2(1, 2, 3)", 0, "pow2 takes 1 argument, not 3"},
      {"pow2(63)", 0, "pow2 needs 0 <= k <= 62"},
      {"ceil_div(n, 0)", 0, "ceil_div needs a >= 0 and b > 0"},
      {"ceil_div(neg, 2)", 0, "ceil_div needs a >= 0 and b > 0"},
      {"round_up(big, 2)", 0, "round_up overflows 64 bits"},
      {"log2(0)", 0, "log2 needs a > 0"},
      {"sqrt(n)", 0,
       "unknown function 'sqrt' (known: ceil_div(a, b), round_up(a, b), min(a, b), max(a, b), pow2(k), "
       "log2(a))"},
      {"min(1, 2", 8, "expected ',' or ')'"},
      {"n\n", 1, "expected an operator or the end of the expression"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    wl_error e = {0};
    int64_t v;
    assert_false(wl_eval(cases[i].text, strlen(cases[i].text), ALL, &v, &e));
    assert_string_equal(e.message, cases[i].message);
    assert_int_equal(e.offset, cases[i].offset);
  }
}

static void a_nul_byte_inside_is_no_end(void **state) {
  wl_error e;
  int64_t v;
  assert_false(wl_eval("1\0+2", 4, ALL, &v, &e));
  assert_int_equal(e.offset, 1);
}

static void deep_nesting_is_refused_without_deep_recursion(void **state) {
  enum { DEPTH = 1000000 };
  char *text = malloc(DEPTH);
  wl_error e;
  int64_t v;
  for (const char *c = "(-+"; *c; c++) {
    memset(text, *c, DEPTH);
    assert_false(wl_eval(text, DEPTH, ALL, &v, &e));
    assert_string_equal(e.message, "nested deeper than 64");
  }
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(generated_expressions_have_the_value_of_128_bit_arithmetic),
      cmocka_unit_test(a_wrong_expression_is_refused_with_its_place),
      cmocka_unit_test(a_nul_byte_inside_is_no_end),
      cmocka_unit_test(deep_nesting_is_refused_without_deep_recursion),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
