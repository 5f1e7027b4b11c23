/* Which of a module's images a driver takes. */
#include <stdlib.h>
#include <string.h>

#include "ptx/binary.h"

/* ---- Targets ------------------------------------------------------------ */

hd_target hd_target_parse(const char *target) {
  char *end;
  const char *p = target ? strstr(target, "sm_") : NULL; /* texmode_independent may stand before it */
  if (!p) return (hd_target){0};
  const unsigned sm = (unsigned)strtoul(p + 3, &end, 10);
  return (hd_target){sm, *end == 'a' ? HD_TARGET_EXACT : *end == 'f' ? HD_TARGET_FAMILY : HD_TARGET_PLAIN};
}

bool hd_target_runs(hd_target t, bool code, unsigned arch) {
  if (t.kind == HD_TARGET_EXACT) return t.sm == arch;
  const bool same_major = t.sm / 10 == arch / 10;
  return t.sm <= arch && (same_major || (t.kind == HD_TARGET_PLAIN && !code));
}

static bool is_same(hd_target a, hd_target b) { return a.sm == b.sm && a.kind == b.kind; }

/* Both run. */
static bool is_later(hd_target t, hd_target than) {
  return t.sm != than.sm ? t.sm > than.sm : t.kind > than.kind;
}

bool hd_target_is_nearer(hd_target t, hd_target than, unsigned arch) {
  const bool runs = !arch || hd_target_runs(t, false, arch),
             other = !arch || hd_target_runs(than, false, arch);
  if (runs != other) return runs;
  return runs ? is_later(t, than) : is_later(than, t);
}

unsigned hd_ptx_isa_of_driver(int version) {
  /* The versions of PTX that came with CUDA's. */
  static const struct {
    int cuda;
    unsigned isa;
  } known[] = {{10000, 63}, {10010, 64}, {10020, 65}, {11000, 70}, {11010, 71}, {11020, 72},
               {11030, 73}, {11040, 74}, {11050, 75}, {11060, 76}, {11070, 77}, {11080, 78},
               {12000, 80}, {12010, 81}, {12020, 82}, {12030, 83}, {12040, 84}, {12050, 85},
               {12060, 85}, {12070, 86}, {12080, 87}, {12090, 88}, {13000, 90}};
  for (size_t k = 0; k < sizeof known / sizeof *known; k++)
    if (known[k].cuda == version) return known[k].isa;
  return 0;
}

/* ---- The choice --------------------------------------------------------- */

void ptx_choice_code(ptx_choice *c, hd_target t) {
  if (!hd_target_runs(t, true, c->arch) || (c->has_code && !is_later(t, c->code))) return;
  c->has_code = true;
  c->code = t;
}

/* The text is more special than the machine code that runs: it may say something else. */
static bool is_beyond(const ptx_choice *c, hd_target t) { return c->has_code && t.kind > c->code.kind; }

static bool is_read(const ptx_choice *c, unsigned isa) { return !c->isa || isa <= c->isa; }

/* By the first of these questions on which they differ. */
static bool is_better(const ptx_choice *c, hd_target t, unsigned isa) {
  const bool of_code = c->has_code && is_same(t, c->code), other = c->has_code && is_same(c->text, c->code);
  if (of_code != other) return of_code;
  const bool runs = hd_target_runs(t, false, c->arch);
  if (runs != hd_target_runs(c->text, false, c->arch)) return runs;
  if (is_read(c, isa) != is_read(c, c->text_isa)) return is_read(c, isa);
  if (is_beyond(c, t) != is_beyond(c, c->text)) return is_beyond(c, c->text);
  return hd_target_is_nearer(t, c->text, c->arch);
}

bool ptx_choice_text(ptx_choice *c, hd_target t, unsigned isa) {
  if (c->has_text && !is_better(c, t, isa)) return false;
  c->has_text = true;
  c->text = t;
  c->text_isa = isa;
  return true;
}
