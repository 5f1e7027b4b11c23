/* The words of the language: opcodes, modifiers, special registers, and the dotted
 * words (forms) they make up. */
#include "heddle/ptx_facts.h"
#include "ptx/lexer.h"

typedef struct word {
  const char *text;
  uint32_t len;
} word;

#define WORD(t)                                                                                              \
  { t, sizeof(t) - 1 }

static const word ops[HD_OP_COUNT] = {
    WORD(""),
#define PTX_OP(id, text, class, alike, result, flags) WORD(text),
#include "heddle/ptx_ops.def"
#undef PTX_OP
};

static const word mods[HD_M_COUNT] = {
    WORD(""),
#define PTX_MOD(id, text) WORD(text),
#include "heddle/ptx_mods.def"
};

static const word sregs[HD_SR_COUNT] = {
    WORD(""),
#define PTX_SREG(id, text, kind) WORD(text),
#include "heddle/ptx_sregs.def"
#undef PTX_SREG
};

/* Opcodes and modifiers share one map: an opcode's index is its number, a
 * modifier's is FIRST_MOD plus its number. Some words are both. */
enum { FIRST_MOD = HD_OP_COUNT, WORD_SLOTS = 2048 };
_Static_assert((HD_OP_COUNT + HD_M_COUNT) * 2 < WORD_SLOTS, "every parse would grow the map");

static uint32_t op_hash(const char *text, size_t n) { return ~ptx_hash(text, n); }

void ptx_words_init(ptx_parser *ps) {
  ptx_map *map = &ps->t->words;
  ptx_map_init(map, ps->arena, WORD_SLOTS);
  for (uint32_t i = 1; i < HD_OP_COUNT; i++) ptx_map_add(map, ps->arena, op_hash(ops[i].text, ops[i].len), i);
  for (uint32_t i = 1; i < HD_M_COUNT; i++)
    ptx_map_add(map, ps->arena, ptx_hash(mods[i].text, mods[i].len), FIRST_MOD + i);
}

static bool is_word(const word *w, const char *text, size_t n) {
  return w->len == n && memcmp(w->text, text, n) == 0;
}

static hd_ptx_op find_op(const ptx_tables *t, const char *text, size_t n) {
  uint32_t h = op_hash(text, n);
  PTX_MAP_EACH(&t->words, h, i) {
    if (i < FIRST_MOD && is_word(&ops[i], text, n)) return (hd_ptx_op)i;
  }
  return HD_OP_UNKNOWN;
}

hd_mod ptx_mod(ptx_parser *ps, const char *text, size_t n, const char *at) {
  hd_ptx_module *m = ps->m;
  uint32_t h = ptx_hash(text, n);
  PTX_MAP_EACH(&ps->t->words, h, i) {
    if (i < FIRST_MOD) continue;
    uint32_t id = (uint32_t)i - FIRST_MOD;
    if (id < HD_M_COUNT) {
      if (is_word(&mods[id], text, n)) return (hd_mod)id;
    } else {
      const char *known = m->mods[id - HD_M_COUNT];
      if (strncmp(known, text, n) == 0 && known[n] == 0) return (hd_mod)id;
    }
  }
  uint32_t id = HD_M_COUNT + m->n_mods;
  if (id > UINT16_MAX) ptx_fail(ps, at, "too many unknown words in one module");
  PTX_PUSH(ps, mods, hd_arena_strndup(ps->arena, text, n));
  ptx_map_add(&ps->t->words, ps->arena, h, FIRST_MOD + id);
  return (hd_mod)id;
}

uint32_t ptx_sreg(const char *text, size_t n) {
  for (uint32_t i = 1; i < HD_SR_COUNT; i++)
    if (is_word(&sregs[i], text, n)) return i;
  return HD_SR_NONE;
}

/* Split a form into its opcode and modifiers. */
static void split_form(ptx_parser *ps, hd_ptx_form *f, size_t n, const char *at) {
  const char *p = ptx_part_end(f->text), *end = f->text + n;
  f->op = find_op(ps->t, f->text, (size_t)(p - f->text));
  f->n_mods = 0;
  while (p < end) {
    const char *start = p + 1; /* *p is '.' */
    p = ptx_part_end(start);
    if (p == start) ptx_fail(ps, at, "'%s': a word is missing after a dot", f->text);
    if (f->n_mods == HD_PTX_MAX_MODS)
      ptx_fail(ps, at, "'%s': more than %d modifiers", f->text, HD_PTX_MAX_MODS);
    f->mods[f->n_mods++] = ptx_mod(ps, start, (size_t)(p - start), at);
  }
  f->flags = hd_ptx_flags_of(f);
}

/* Texts of forms are followed by zeros up to a multiple of eight bytes, so they are
 * compared a word at a time; a shorter one differs in the word that holds its NUL. */
static char *padded_copy(hd_arena *arena, const char *text, size_t n) {
  char *copy = hd_arena_zalloc(arena, n / 8 + 1, 8);
  memcpy(copy, text, n);
  return copy;
}

static inline bool same_form(const char *known, const char *text, size_t n) {
  size_t i = 0;
  for (; i + 8 <= n; i += 8)
    if (ptx_load64(known + i) != ptx_load64(text + i)) return false;
  uint64_t rest = (1ull << (n - i) * 8) - 1;
  return ptx_load64(known + i) == (ptx_load64(text + i) & rest);
}

uint32_t ptx_form(ptx_parser *ps, const char *text, size_t n, const char *at) {
  uint32_t h = ptx_hash(text, n);
  PTX_MAP_EACH(&ps->t->form_map, h, i) {
    if (same_form(ps->m->forms[i].text, text, n)) return (uint32_t)i;
  }
  hd_ptx_form f = {.text = padded_copy(ps->arena, text, n)};
  split_form(ps, &f, n, at);
  PTX_PUSH(ps, forms, f);
  ptx_map_add(&ps->t->form_map, ps->arena, h, ps->m->n_forms - 1);
  return ps->m->n_forms - 1;
}

const char *hd_ptx_op_text(hd_ptx_op op) { return op < HD_OP_COUNT ? ops[op].text : ""; }

const char *hd_ptx_mod_text(const hd_ptx_module *m, hd_mod mod) {
  if (mod < HD_M_COUNT) return mods[mod].text;
  uint32_t i = mod - HD_M_COUNT;
  return m && i < m->n_mods ? m->mods[i] : "";
}
