#include "ptx/lexer.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#define START (PTX_C_START | PTX_C_IDENT | PTX_C_WORD)
#define HEXLETTER (START | PTX_C_HEX)
#define DIGIT (PTX_C_IDENT | PTX_C_WORD | PTX_C_DIGIT | PTX_C_HEX)

#define BLANK PTX_C_BLANK
#define STOP PTX_C_BRACKET

/* clang-format off */
const uint8_t ptx_class[256] = {
    ['0' ... '9'] = DIGIT, ['a' ... 'f'] = HEXLETTER, ['g' ... 'z'] = START,
    ['A' ... 'F'] = HEXLETTER, ['G' ... 'Z'] = START, ['_'] = START, ['$'] = START,
    ['%'] = PTX_C_START, ['.'] = PTX_C_WORD,
    [' '] = BLANK, ['\t'] = BLANK, ['\r'] = BLANK, ['\f'] = BLANK, ['\n'] = BLANK | STOP,
    ['('] = STOP, [')'] = STOP, ['['] = STOP, [']'] = STOP, ['{'] = STOP, ['}'] = STOP,
    ['"'] = STOP, ['/'] = STOP, [0] = STOP,
};
/* clang-format on */

/* ---- Errors ----------------------------------------------------------------------- */

void ptx_fail(ptx_parser *ps, const char *at, const char *fmt, ...) {
  char message[512];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(message, sizeof message, fmt, ap);
  va_end(ap);
  ps->status = hd_fail_at(ps->diag, HD_ERR_INPUT, ps->diag_name, ps->text, ps->len, (size_t)(at - ps->text),
                          "%s", message);
  longjmp(ps->escape, 1);
}

void ptx_out_of_memory(ptx_parser *ps) {
  ps->status = hd_fail(ps->diag, HD_ERR_NOMEM, "%s: out of memory", ps->diag_name);
  longjmp(ps->escape, 1);
}

void ptx_expected(ptx_parser *ps, const char *at, const char *what) {
  const char *end = PTX_IS(*at, PTX_C_WORD | PTX_C_START) ? ptx_word_end(at + 1) : at + 1;
  if (at >= ps->text + ps->len) ptx_fail(ps, at, "expected %s, found the end of the text", what);
  int n = end - at > 60 ? 60 : (int)(end - at);
  ptx_fail(ps, at, "expected %s, found '%.*s'", what, n, at);
}

/* ---- Comments and skipped text ----------------------------------------------------- */

const char *ptx_comment(ptx_parser *ps, const char *p) {
  if (p[1] == '/') {
    const char *nl = strchr(p, '\n');
    return nl ? nl : ps->text + ps->len;
  }
  if (p[1] != '*') return p;
  const char *end = strstr(p + 2, "*/");
  if (!end) ptx_fail(ps, p, "a comment is not closed");
  for (const char *q = p; (q = memchr(q, '\n', (size_t)(end - q))); q++) ps->line++;
  return end + 2;
}

/* Behind the string that begins at p. */
static const char *skip_string(ptx_parser *ps, const char *p) {
  const char *end = strpbrk(p + 1, "\"\n");
  if (!end || *end == '\n') ptx_fail(ps, p, "a string is not closed");
  return end + 1;
}

const char *ptx_balanced(ptx_parser *ps, const char *p) {
  char closers[PTX_MAX_DEPTH];
  unsigned depth = 0;
  const char *start = p;
  for (;;) {
    while (!PTX_IS(*p, PTX_C_BRACKET)) p++;
    switch (*p) {
    case '(':
    case '[':
    case '{':
      if (depth == PTX_MAX_DEPTH) ptx_fail(ps, p, "brackets are nested more than %d deep", PTX_MAX_DEPTH);
      closers[depth++] = *p == '(' ? ')' : *p == '[' ? ']' : '}';
      p++;
      break;
    case ')':
    case ']':
    case '}':
      if (*p != closers[depth - 1]) ptx_fail(ps, p, "'%c' does not match", *p);
      p++;
      if (--depth == 0) return p;
      break;
    case '"': p = skip_string(ps, p); break;
    case '/': {
      const char *q = ptx_comment(ps, p);
      p = q == p ? p + 1 : q;
      break;
    }
    case '\n':
      ps->line++;
      p++;
      break;
    case 0: ptx_fail(ps, start, "'%c' is not closed", *start);
    default: p++;
    }
  }
}

const char *ptx_unknown_directive(ptx_parser *ps, const char *p, const char **end) {
  const char *last = p; /* behind the last character that is no blank */
  for (;;) {
    switch (*p) {
    case ' ':
    case '\t':
    case '\r': p++; continue;
    case 0:
    case '\n': *end = last; return p;
    case ';': *end = p + 1; return p + 1;
    case '"': p = skip_string(ps, p); break;
    case '(':
    case '[': p = ptx_balanced(ps, p); break;
    case '{':
      p = ptx_balanced(ps, p);
      if (p[strspn(p, " \t")] == ';' || p[strspn(p, " \t")] == ',') break;
      *end = p;
      return p;
    case ')':
    case ']':
    case '}': *end = last; return p;
    case '/':
      if (ptx_comment(ps, p) != p) {
        *end = last;
        return p;
      }
      p++;
      break;
    default: p++;
    }
    last = p;
  }
}

const char *ptx_string(ptx_parser *ps, const char *p, const char **text, size_t *len) {
  if (*p != '"') ptx_expected(ps, p, "a string");
  const char *end = skip_string(ps, p);
  *text = p + 1;
  *len = (size_t)(end - p) - 2;
  return end;
}

/* ---- Numbers ------------------------------------------------------------------------ */

static unsigned digit_value(char c) {
  return c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a') + 10;
}

/* All digits of `base` from p on. */
static const char *radix(ptx_parser *ps, const char *p, unsigned base, uint64_t *out) {
  const char *start = p;
  uint64_t v = 0;
  for (; PTX_IS(*p, PTX_C_HEX) && digit_value(*p) < base; p++)
    if (__builtin_mul_overflow(v, (uint64_t)base, &v) || __builtin_add_overflow(v, digit_value(*p), &v))
      ptx_fail(ps, start, "the integer does not fit 64 bits");
  if (p == start) ptx_expected(ps, p, "digits");
  *out = v;
  return p;
}

/* 0f and 0d literals: exactly n hexadecimal digits. */
static const char *float_bits(ptx_parser *ps, const char *p, unsigned n, uint64_t *out) {
  uint64_t v = 0;
  for (unsigned i = 0; i < n; i++) {
    if (!PTX_IS(p[i], PTX_C_HEX)) ptx_fail(ps, p, "expected %u hexadecimal digits", n);
    v = v << 4 | digit_value(p[i]);
  }
  *out = v;
  return p + n;
}

/* A literal with a decimal point or an exponent, whatever the caller's locale. */
static const char *decimal_float(ptx_parser *ps, const char *p, hd_ptx_opnd *out) {
  locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (!c) ptx_out_of_memory(ps);
  char *end;
  double v = strtod_l(p, &end, c);
  freelocale(c);
  if (end == p) ptx_expected(ps, p, "a number");
  *out = (hd_ptx_opnd){.kind = HD_O_F64};
  memcpy(&out->bits, &v, sizeof v);
  return end;
}

/* True when a decimal point or an exponent follows the digits at p. */
static bool is_decimal_float(const char *p) {
  while (PTX_IS(*p, PTX_C_DIGIT)) p++;
  if (*p == '.') return !PTX_IS(p[1], PTX_C_START) || ((p[1] | 0x20) == 'e' && PTX_IS(p[2], PTX_C_DIGIT));
  return (*p | 0x20) == 'e';
}

static const char *any_number(ptx_parser *ps, const char *p, hd_ptx_opnd *out) {
  *out = (hd_ptx_opnd){.kind = HD_O_INT};
  const char *start = p;
  char prefix = p[0] == '0' ? (char)(p[1] | 0x20) : 0;
  switch (prefix) {
  case 'x': p = radix(ps, p + 2, 16, &out->bits); break;
  case 'b': p = radix(ps, p + 2, 2, &out->bits); break;
  case 'f':
    out->kind = HD_O_F32;
    p = float_bits(ps, p + 2, 8, &out->bits);
    break;
  case 'd':
    out->kind = HD_O_F64;
    p = float_bits(ps, p + 2, 16, &out->bits);
    break;
  default:
    if (is_decimal_float(p))
      p = decimal_float(ps, p, out);
    else
      p = radix(ps, p, *p == '0' ? 8 : 10, &out->bits);
  }
  if (out->kind == HD_O_INT) {
    if (*p == 'U') {
      out->flags = HD_OF_UNSIGNED;
      p++;
    } else if (out->bits >> 63) {
      out->flags = HD_OF_UNSIGNED; /* too large for a signed constant */
    }
  }
  if (PTX_IS(*p, PTX_C_IDENT)) ptx_fail(ps, start, "malformed number");
  return p;
}

const char *ptx_number(ptx_parser *ps, const char *p, hd_ptx_opnd *out) {
  int64_t v;
  const char *end = ptx_short_int(p, &v);
  if (end) {
    *out = (hd_ptx_opnd){.kind = HD_O_INT, .imm = v};
    return end;
  }
  return any_number(ps, p, out);
}

const char *ptx_uint(ptx_parser *ps, const char *p, uint64_t max, uint64_t *out) {
  if (!PTX_IS(*p, PTX_C_DIGIT)) ptx_expected(ps, p, "an integer");
  hd_ptx_opnd o;
  const char *end = ptx_number(ps, p, &o);
  if (o.kind != HD_O_INT) ptx_expected(ps, p, "an integer");
  if (o.bits > max) ptx_fail(ps, p, "the integer is above %llu", (unsigned long long)max);
  *out = o.bits;
  return end;
}
