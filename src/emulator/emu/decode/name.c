/* emu/decode/name.c: the order of modifiers.
 *
 * ptxas takes modifiers in any order (max.s32.relu is max.relu.s32), but types keep theirs, and the words
 * that name the operation itself stand right behind the opcode: mul.lo.s32, never mul.s32.lo. So a handler's
 * name is a set of words and a list of types, and names that differ in the words' order alone are the same.
 */
#include "emu/decode/decode.h"

/* ---- Names ------------------------------------------------------------------------------------- */

static bool is_type(const char *word, size_t n) {
  static const char *const families[] = {"u",  "s",   "b",   "i",   "f",   "bf",
                                         "tf", "e4m", "e5m", "e2m", "e3m", "ue8m"};
  if (n == 4 && memcmp(word, "pred", 4) == 0) return true;
  size_t letters = 0;
  for (unsigned k = 0; k < sizeof families / sizeof families[0]; k++) {
    const size_t len = strlen(families[k]);
    if (len > letters && len < n && memcmp(word, families[k], len) == 0) letters = len;
  }
  if (!letters) return false;
  for (size_t k = letters; k < n; k++)
    if (word[k] != 'x' && (word[k] < '0' || word[k] > '9')) return false;
  return true;
}

/* The word behind a dot: its length. */
static size_t word_length(const char *word) { return strcspn(word, "."); }

uint32_t emu_name_hash(const char *name) {
  size_t n = word_length(name);
  uint64_t types = hd_hash(name, n), words = 0;
  for (const char *p = name + n; *p; p += n) {
    n = word_length(++p);
    const uint64_t h = hd_hash(p, n);
    if (is_type(p, n))
      types = types * 31 + h;
    else
      words += h;
  }
  const uint64_t key[2] = {types, words};
  return (uint32_t)hd_hash(key, sizeof key);
}

/* How often a word stands in a name. */
static unsigned count_of(const char *name, const char *word, size_t n) {
  unsigned count = 0;
  size_t len;
  for (const char *p = name + word_length(name); *p; p += len) {
    len = word_length(++p);
    count += len == n && memcmp(p, word, n) == 0;
  }
  return count;
}

/* The next type behind `p`, which is a name's end of a word; its end at *end. */
static const char *next_type(const char *p, const char **end) {
  while (*p) {
    const char *word = p + 1;
    p = word + word_length(word);
    *end = p;
    if (is_type(word, (size_t)(p - word))) return word;
  }
  return NULL;
}

bool emu_same_name(const char *a, const char *b) {
  if (strcmp(a, b) == 0) return true;
  const size_t op = word_length(a);
  if (strlen(a) != strlen(b) || word_length(b) != op || memcmp(a, b, op) != 0) return false;
  const char *x, *y, *x_end = a + op, *y_end = b + op;
  do {
    x = next_type(x_end, &x_end);
    y = next_type(y_end, &y_end);
    if (!x != !y || (x && (x_end - x != y_end - y || memcmp(x, y, (size_t)(x_end - x)) != 0))) return false;
  } while (x);
  size_t n;
  for (const char *p = a + op; *p; p += n) {
    n = word_length(++p);
    if (count_of(a, p, n) != count_of(b, p, n)) return false;
  }
  return true;
}

/* ---- Words that belong to the opcode --------------------------------------------------------------- */

enum { LEADING = 12 };
static const struct {
  hd_ptx_op op;
  hd_mod words[LEADING]; /* in the order in which they follow each other; 0 behind the last */
} leading[] = {
    {HD_OP_MUL, {HD_M_LO, HD_M_HI, HD_M_WIDE}},
    {HD_OP_MAD, {HD_M_LO, HD_M_HI, HD_M_WIDE}},
    {HD_OP_MADC, {HD_M_LO, HD_M_HI}},
    {HD_OP_MUL24, {HD_M_LO, HD_M_HI}},
    {HD_OP_MAD24, {HD_M_LO, HD_M_HI}},
    {HD_OP_DP2A, {HD_M_LO, HD_M_HI}},
    {HD_OP_DIV, {HD_M_FULL}},
    {HD_OP_SHF, {HD_M_L, HD_M_R}},
    {HD_OP_CVT, {HD_M_PACK}},
    {HD_OP_CVTA, {HD_M_TO}},
    {HD_OP_BAR, {HD_M_CTA, HD_M_WARP, HD_M_SYNC, HD_M_ARRIVE, HD_M_RED}},
    {HD_OP_BARRIER, {HD_M_CTA, HD_M_CLUSTER, HD_M_SYNC, HD_M_ARRIVE, HD_M_WAIT, HD_M_RED}},
    {HD_OP_FENCE, {HD_M_PROXY}},
    {HD_OP_CREATEPOLICY, {HD_M_FRACTIONAL, HD_M_RANGE, HD_M_CVT}},
    {HD_OP_CP,
     {HD_M_REDUCE, HD_M_ASYNC, HD_M_BULK, HD_M_PREFETCH, HD_M_TENSOR, HD_M_COMMIT_GROUP, HD_M_WAIT_GROUP,
      HD_M_WAIT_ALL, HD_M_MBARRIER, HD_M_ARRIVE}},
    {HD_OP_MBARRIER,
     {HD_M_INIT, HD_M_INVAL, HD_M_ARRIVE, HD_M_ARRIVE_DROP, HD_M_EXPECT_TX, HD_M_COMPLETE_TX, HD_M_TEST_WAIT,
      HD_M_TRY_WAIT, HD_M_PARITY, HD_M_PENDING_COUNT}},
    {HD_OP_ST, {HD_M_ASYNC}},
    {HD_OP_RED, {HD_M_ASYNC}},
    {HD_OP_SULD, {HD_M_B, HD_M_P}},
    {HD_OP_SUST, {HD_M_B, HD_M_P}},
    {HD_OP_SURED, {HD_M_B, HD_M_P}},
    {HD_OP_WMMA, {HD_M_LOAD, HD_M_STORE, HD_M_MMA, HD_M_A, HD_M_B, HD_M_C, HD_M_D}},
    {HD_OP_WGMMA, {HD_M_FENCE, HD_M_COMMIT_GROUP, HD_M_WAIT_GROUP, HD_M_MMA_ASYNC}},
    {HD_OP_SETMAXNREG, {HD_M_INC, HD_M_DEC}},
    {HD_OP_TENSORMAP, {HD_M_REPLACE, HD_M_CP_FENCEPROXY}},
};

/* 1 + the place of a word in its row; 0: it is free. */
static unsigned place_of(const hd_mod *words, hd_mod mod) {
  for (unsigned k = 0; k < LEADING && words[k]; k++)
    if (words[k] == mod) return k + 1;
  return 0;
}

hd_mod emu_misplaced(const hd_ptx_form *f) {
  for (unsigned k = 0; k < sizeof leading / sizeof leading[0]; k++) {
    if (leading[k].op != f->op) continue;
    unsigned least = 1; /* of the next word that leads */
    for (unsigned m = 0; m < f->n_mods; m++) {
      const unsigned place = place_of(leading[k].words, f->mods[m]);
      if (place && place < least) return f->mods[m];
      least = place ? place + 1 : LEADING + 1;
    }
  }
  return HD_M_NONE;
}
