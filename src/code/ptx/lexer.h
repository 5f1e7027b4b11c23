/* Characters, blanks, words and numbers of PTX text.
 *
 * The text being parsed is a private copy followed by PTX_PADDING zero bytes, so scanning loops need no
 * bounds check (a NUL belongs to no class) and eight bytes may be loaded at any position of it. Positions are
 * passed in and returned; the parser keeps only state that a caller must not lose.
 */
#ifndef PTX_LEXER_H
#define PTX_LEXER_H

#include "ptx/parser.h"

#include <string.h>

enum { PTX_PADDING = 32 };

enum {
  PTX_C_START = 1, /* may begin an identifier: letters _ $ % */
  PTX_C_IDENT = 2, /* may continue one: letters digits _ $ */
  PTX_C_WORD = 4,  /* may continue a dotted word: identifiers and '.' */
  PTX_C_DIGIT = 8,
  PTX_C_HEX = 16,
  PTX_C_BRACKET = 32, /* where skipping over text must look: brackets " / newline NUL */
  PTX_C_BLANK = 64,
};
extern const uint8_t ptx_class[256];
#define PTX_IS(c, classes) ((ptx_class[(unsigned char)(c)] & (classes)) != 0)

/* Fail with HD_ERR_INPUT at position `at` of the text. Does not return. */
_Noreturn void ptx_fail(ptx_parser *ps, const char *at, const char *fmt, ...) HD_PRINTF(3, 4);
/* "expected WHAT, found ..." at position `at`. Does not return. */
_Noreturn void ptx_expected(ptx_parser *ps, const char *at, const char *what);

/* Behind the comment at p; p itself when there is none. */
const char *ptx_comment(ptx_parser *ps, const char *p);

/* Skip blanks and comments; counts lines. */
static inline const char *ptx_blank(ptx_parser *ps, const char *p) {
  for (;;) {
    if (PTX_IS(*p, PTX_C_BLANK)) {
      ps->line += *p == '\n';
      p++;
    } else {
      if (__builtin_expect(*p != '/', 1)) return p;
      const char *q = ptx_comment(ps, p);
      if (q == p) return p;
      p = q;
    }
  }
}

/* The same, to look ahead: the line stays. */
static inline const char *ptx_peek(ptx_parser *ps, const char *p) {
  uint32_t line = ps->line;
  p = ptx_blank(ps, p);
  ps->line = line;
  return p;
}

/* Require the character c, and skip the blanks after it. */
static inline const char *ptx_eat(ptx_parser *ps, const char *p, char c) {
  if (*p != c) {
    char what[4] = {'\'', c, '\'', 0};
    ptx_expected(ps, p, what);
  }
  return ptx_blank(ps, p + 1);
}

/* The end of the identifier that begins at p (p itself: there is none). */
static inline const char *ptx_ident_end(const char *p) {
  if (!PTX_IS(*p, PTX_C_START)) return p;
  do p++;
  while (PTX_IS(*p, PTX_C_IDENT));
  return p;
}

/* The end of the dotted word at p: ld.global.L1::no_allocate.v4.f32. A single
 * ':' is not part of it, so a label's name ends before its colon. */
static inline const char *ptx_word_end(const char *p) {
  for (;;) {
    while (PTX_IS(*p, PTX_C_WORD)) p++;
    if (*p != ':' || p[1] != ':') return p;
    p += 2;
  }
}

/* The same for one part of a dotted word: stops before '.'. */
static inline const char *ptx_part_end(const char *p) {
  for (;;) {
    while (PTX_IS(*p, PTX_C_IDENT)) p++;
    if (*p != ':' || p[1] != ':') return p;
    p += 2;
  }
}

/* ---- Eight bytes at a time ------------------------------------------------ */

static inline uint64_t ptx_load64(const char *p) {
  uint64_t w;
  memcpy(&w, p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  w = __builtin_bswap64(w);
#endif
  return w;
}

static inline void ptx_store64(char *p, uint64_t w) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  w = __builtin_bswap64(w);
#endif
  memcpy(p, &w, 8);
}

#define PTX_EACH_BYTE(c) ((c)*0x0101010101010101ull)

/* The high bit of every byte of w that is no decimal digit. */
static inline uint64_t ptx_nondigits(uint64_t w) {
  uint64_t t = w ^ PTX_EACH_BYTE(0x30);
  return (((t & PTX_EACH_BYTE(0x7f)) + PTX_EACH_BYTE(0x76)) | t) & PTX_EACH_BYTE(0x80);
}

/* The value of the first n (1 to 8) characters of w, all of them digits. */
static inline uint32_t ptx_digits(uint64_t w, unsigned n) {
  w = (w & PTX_EACH_BYTE(0x0f)) << (64 - 8 * n);
  w = w * 10 + (w >> 8);
  return (uint32_t)((((w & 0x000000FF000000FFull) * 0x000F424000000064ull) +
                     (((w >> 16) & 0x000000FF000000FFull) * 0x0000271000000001ull)) >>
                    32);
}

/* ---- Literals ---------------------------------------------------------------- */

/* A decimal integer of at most six digits without anything else to it, which nearly
 * all literals are; NULL: not that. */
static inline const char *ptx_short_int(const char *p, int64_t *out) {
  uint64_t w = ptx_load64(p);
  unsigned n = (unsigned)__builtin_ctzll(ptx_nondigits(w) | 1ull << 63) / 8;
  if (n == 0 || n > 6 || PTX_IS(p[n], PTX_C_WORD) || (*p == '0' && n > 1)) return NULL;
  *out = ptx_digits(w, n);
  return p + n;
}

/* A numeric literal: HD_O_INT, HD_O_F32 or HD_O_F64 with its bits. */
const char *ptx_number(ptx_parser *ps, const char *p, hd_ptx_opnd *out);
/* An unsigned decimal, hexadecimal, octal or binary integer of at most `max`. */
const char *ptx_uint(ptx_parser *ps, const char *p, uint64_t max, uint64_t *out);
/* A string literal; *text and *len are its bytes as written between the quotes. */
const char *ptx_string(ptx_parser *ps, const char *p, const char **text, size_t *len);

/* Balanced text from the opening bracket at p to behind its closing one;
 * brackets of all kinds nest, strings and comments are skipped; counts lines. */
const char *ptx_balanced(ptx_parser *ps, const char *p);
/* The end of an unknown directive: behind its ';', behind its closing '}', or at the end of its line; *end is
 * where its text ends. */
const char *ptx_unknown_directive(ptx_parser *ps, const char *p, const char **end);

#endif
