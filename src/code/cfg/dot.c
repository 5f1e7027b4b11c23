/* A graph in Graphviz' language. */
#include <string.h>

#include "cfg/internal.h"

enum { MAX_DRAWN_DEPTH = 32 };

static void put_escaped(const char *text, hd_buf *out) {
  for (; *text; text++) {
    if (strchr("\"\\{}<>|", *text)) hd_buf_putc(out, '\\');
    hd_buf_putc(out, *text == '\t' ? ' ' : *text);
  }
}

static void put_block(const hd_cfg *g, const hd_ptx_module *m, uint32_t b, unsigned indent, hd_buf *out) {
  const hd_block *block = &g->blocks[b];
  hd_buf_printf(out, "%*sb%u [label=\"", (int)indent, "", b);
  if (b == g->n_blocks - 1)
    hd_buf_puts(out, "exit");
  else if (block->label)
    put_escaped(m->syms[block->label].name, out);
  else
    hd_buf_printf(out, "%u", b);
  hd_buf_puts(out, "\\l");
  for (uint32_t i = 0; i < block->n_insts; i++) {
    const hd_inst *inst = &g->insts[block->first + i];
    hd_buf text = {0};
    hd_ptx_print_stmt(m, &m->funcs[inst->func].stmts[inst->stmt], &text);
    put_escaped(text.data ? text.data : "", out);
    hd_buf_puts(out, "\\l");
    out->failed |= text.failed;
    hd_buf_free(&text);
  }
  hd_buf_puts(out, "\"];\n");
}

/* The loop around a block, as it is drawn: loops nested deeper than MAX_DRAWN_DEPTH are drawn as one. */
static uint32_t drawn_loop(const hd_cfg *g, uint32_t loop) {
  while (loop != HD_NONE && g->loops[loop].depth > MAX_DRAWN_DEPTH) loop = g->loops[loop].parent;
  return loop;
}

/* Blocks of a loop and, inside, of the loops in it. */
static void put_loop(const hd_cfg *g, const hd_ptx_module *m, uint32_t loop, unsigned indent, hd_buf *out) {
  for (uint32_t l = loop == HD_NONE ? 0 : loop + 1; l < g->n_loops; l++) {
    if (g->loops[l].parent != loop || g->loops[l].depth > MAX_DRAWN_DEPTH) continue;
    hd_buf_printf(out, "%*ssubgraph cluster_loop%u {\n", (int)indent, "", l + 1);
    hd_buf_printf(out, "%*slabel=\"loop k%u\";\n", (int)indent + 2, "", l + 1);
    put_loop(g, m, l, indent + 2, out);
    hd_buf_printf(out, "%*s}\n", (int)indent, "");
  }
  for (uint32_t b = 0; b < g->n_blocks; b++)
    if (drawn_loop(g, g->blocks[b].loop) == loop && g->blocks[b].rpo != HD_NONE)
      put_block(g, m, b, indent, out);
}

void hd_cfg_dot(const hd_cfg *g, const hd_ptx_module *m, hd_buf *out) {
  hd_buf_puts(out, "digraph cfg {\n  node [shape=box, fontname=\"monospace\"];\n");
  put_loop(g, m, HD_NONE, 2, out);
  for (uint32_t b = 0; b < g->n_blocks; b++) {
    const hd_block *block = &g->blocks[b];
    if (block->rpo == HD_NONE) continue;
    for (uint32_t k = 0; k < block->n_succ; k++) {
      uint32_t to = g->edges[block->first_succ + k];
      const char *label = block->n_succ == 2 ? (k ? " [label=\"F\"]" : " [label=\"T\"]") : "";
      hd_buf_printf(out, "  b%u -> b%u%s%s;\n", b, to, label,
                    hd_dominates(g, to, b) ? " [constraint=false]" : "");
    }
  }
  hd_buf_puts(out, "}\n");
}
