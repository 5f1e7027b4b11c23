/* emu/machine/depend.c: griddepcontrol. Grids run one after the other here; for checks of their overlap the
 * machine knows which accesses come behind a wait for the earlier grids, and which behind the permission for
 * later ones.
 *
 * A wait by one thread holds for those that are ordered behind it, which know.c knows. Where it does not
 * look, in clusters and without HD_CHECK_RACE, it holds for all threads of the unit that run later; in
 * cooperative launches for all threads of the grid. Races may hide there, and none is invented. */
#include "emu/machine/cluster.h"
#include "emu/machine/know.h"

uint32_t emu_waited(emu_warp *w, uint32_t lanes) {
  hd_emu_cta *c = w->cta;
  const hd_emu_grid *g = c->grid;
  if (!g->waited) return 0;
  if (g->workspace) return lanes;
  if (!c->order) return emu_unit_cta(c, 0)->waited ? lanes : 0;
  const emu_knower *k = &c->order->warps[w->index];
  return lanes & ((k->knows.waited ? k->informed : 0) | (k->base.waited ? ~k->informed : 0));
}

void emu_run_griddepcontrol(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  hd_emu_cta *c = w->cta;
  (void)r;
  if (i->imm) {
    c->waited = emu_unit_cta(c, 0)->waited = true;
    c->grid->waited = true;
    if (c->order) emu_know_waited(w, mask);
  } else if (!c->launched) {
    c->launched = true;
    if (emu_waited(w, mask)) c->grid->waited_first = true;
  }
}

void emu_depend_over(hd_emu_cta *c) {
  if (c->waited && !c->launched) c->grid->waited_first = true;
}
