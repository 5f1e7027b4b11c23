/* print.c: a program as PTX. */
#include <string.h>

#include "difftest/program.h"

/* ---- The module ------------------------------------------------------------------------- */

void dt_print_head(unsigned sm, hd_buf *out) {
  hd_buf_printf(out, ".version %s\n.target sm_%u%s\n.address_size 64\n", sm < 100 ? "8.7" : "9.0", sm,
                sm < 90 ? "" : "a");
  hd_buf_puts(out, ".const .align 16 .b32 difftest_table[16] = {");
  for (unsigned k = 0; k < 16; k++)
    hd_buf_printf(out, "%s0x%08x", k ? ", " : "", (unsigned)hd_random_at(7, k));
  hd_buf_puts(out, "};\n.func (.param .b32 r) difftest_mix(.param .b32 x, .param .b64 y)\n{\n"
                   ".reg .b32 %w<4>; .reg .b64 %d;\nld.param.b32 %w0, [x]; ld.param.b64 %d, [y];\n"
                   "mov.b64 {%w1, %w2}, %d; mad.lo.u32 %w0, %w0, 77, %w1; xor.b32 %w0, %w0, %w2;\n"
                   "st.param.b32 [r], %w0;\nret;\n}\n");
}

/* ---- Ready registers -------------------------------------------------------------------------- */

/* Set up in this order, for those that something below or in the program names. */
static const struct {
  const char *name, *declare, *text;
} ready[] = {
    {"%sg", ".reg .b64 %sg;", "cvt.u64.u32 %sg, %sp; cvta.shared.u64 %sg, %sg;"},
    {"%gs", ".reg .b32 %gs;",
     "and.b32 %gs, %ti, 0xffffff80; shl.b32 %gs, %gs, 6; mov.u32 %r0, sm; add.u32 %gs, %gs, %r0;"},
    {"%wp", ".reg .b32 %wp;",
     "and.b32 %wp, %ti, 0xffffffe0; shl.b32 %wp, %wp, 6; mov.u32 %r0, sm; add.u32 %wp, %wp, %r0;"},
    {"%wg", ".reg .b64 %wg;", "and.b32 %r0, %ti, 0xffffffe0; mad.wide.u32 %wg, %r0, 64, %sc;"},
    {"%sp", ".reg .b32 %sp;", "mov.u32 %sp, sm; mad.lo.u32 %sp, %ti, 64, %sp;"},
    {"%lp", ".reg .b64 %lp; .local .align 16 .b8 lm[64];",
     "mov.u64 %lp, lm; mad.wide.u32 %lp, %o32, 1, %lp;"},
    {"%mb", ".reg .b32 %mb; .shared .align 8 .b8 mb[2048];", "mov.u32 %mb, mb; mad.lo.u32 %mb, %ti, 8, %mb;"},
    {"%cm", ".reg .b32 %cm; .shared .align 64 .b8 cm[64];", "mov.u32 %cm, cm;"},
    {"%o32", ".reg .b32 %o32;", "mov.u32 %o32, %tid.y;"},
    {"%o16", ".reg .b16 %o16;", "mov.u16 %o16, %tid.y;"},
    {"%la", ".reg .b32 %la;", "mov.u32 %la, %laneid;"},
};
enum { READY = sizeof ready / sizeof ready[0] };

typedef struct kernel {
  const dt_program *p;
  const bool *keep;
  hd_buf *out;
  uint64_t mentions, writes;
  bool needs[READY];
  bool shared, local;
} kernel;

static bool kept(const kernel *k, uint32_t op) { return !k->keep || k->keep[op]; }

static bool names(const dt_program *p, const dt_op *op, const char *name) {
  return memmem(p->text.data + op->text, op->len, name, strlen(name)) != NULL;
}

/* Find the registers that are used, and the ready ones that must be set up. */
static void look(kernel *k) {
  const dt_program *p = k->p;
  for (uint32_t j = 0; j < p->n_ops; j++) {
    const dt_op *op = &p->ops[j];
    if (!kept(k, j)) continue;
    k->mentions |= op->mentions;
    k->writes |= op->writes;
    for (unsigned i = 0; i < READY && op->len; i++) k->needs[i] |= names(p, op, ready[i].name);
  }
  for (unsigned i = 0; i < READY; i++) {
    if (!k->needs[i]) continue;
    for (unsigned j = i + 1; j < READY; j++) k->needs[j] |= strstr(ready[i].text, ready[j].name) != NULL;
    /* All of these lie in one array, and their bytes are the threads' own. */
    const char *name = ready[i].name;
    k->shared |= !strcmp(name, "%sp") || !strcmp(name, "%wp") || !strcmp(name, "%gs") || !strcmp(name, "%sg");
    k->local |= !strcmp(name, "%lp");
  }
  for (unsigned i = 0; i < READY; i++) k->needs[i] |= k->shared && !strcmp(ready[i].name, "%sp");
}

static void copy_scratch(kernel *k, const char *store, const char *to) {
  for (unsigned at = 0; at < DT_SHARED_BYTES; at += 16)
    hd_buf_printf(
        k->out,
        "ld.global.v4.b32 {%%r0, %%r1, %%r2, %%r3}, [%%gp+%u]; %s [%s+%u], {%%r0, %%r1, %%r2, %%r3};\n", at,
        store, to, at);
}

static uint64_t slot_of_input(const dt_program *p, unsigned reg) {
  uint64_t k = 0;
  while (p->inputs[k] != reg) k++;
  return p->results.n + 1 + k;
}

static void load_registers(kernel *k) {
  for (unsigned reg = 0; reg < DT_REGS; reg++) {
    if (!(k->mentions >> reg & 1)) continue;
    const dt_class_info *c = &dt_classes[dt_class_of(reg)];
    const unsigned long long at = 8ull * slot_of_input(k->p, reg) * k->p->threads;
    if (c->bits == 1)
      hd_buf_printf(k->out, "ld.global.b32 %%r0, [%%io+%llu]; setp.ne.u32 %%p%u, %%r0, 0;\n", at,
                    reg - c->first);
    else
      hd_buf_printf(k->out, "ld.global%s %%%c%u, [%%io+%llu];\n", c->type, c->letter, reg - c->first, at);
  }
}

static void store_registers(kernel *k) {
  for (size_t j = 0; j < k->p->results.n; j++) {
    const unsigned reg = k->p->results.data[j].reg;
    if (reg == UINT8_MAX || !(k->writes >> reg & 1)) continue;
    const dt_class_info *c = &dt_classes[dt_class_of(reg)];
    const unsigned long long at = 8ull * j * k->p->threads;
    if (c->bits == 1)
      hd_buf_printf(k->out, "selp.b32 %%r0, 1, 0, %%p%u; st.global.b32 [%%io+%llu], %%r0;\n", reg - c->first,
                    at);
    else
      hd_buf_printf(k->out, "st.global%s [%%io+%llu], %%%c%u;\n", c->type, at, c->letter, reg - c->first);
  }
}

static bool has_else(const kernel *k, uint32_t pair) {
  for (uint32_t j = 0; j < k->p->n_ops; j++)
    if (k->p->ops[j].kind == DT_OP_ELSE && k->p->ops[j].pair == pair && kept(k, j)) return true;
  return false;
}

static void put_ops(kernel *k) {
  uint32_t depth = 0;
  for (uint32_t j = 0; j < k->p->n_ops; j++) {
    const dt_op *op = &k->p->ops[j];
    if (!kept(k, j)) continue;
    switch (op->kind) {
    case DT_OP_INST:
      hd_buf_put(k->out, k->p->text.data + op->text, op->len);
      hd_buf_putc(k->out, '\n');
      break;
    case DT_OP_IF:
      depth++;
      hd_buf_put(k->out, k->p->text.data + op->text, op->len);
      hd_buf_printf(k->out, " bra %s_%u;\n", has_else(k, op->pair) ? "else" : "end", op->pair);
      break;
    case DT_OP_ELSE: hd_buf_printf(k->out, "bra end_%u;\nelse_%u:\n", op->pair, op->pair); break;
    case DT_OP_END:
      hd_buf_printf(k->out, "end_%u:\n", op->pair);
      if (--depth == 0) hd_buf_puts(k->out, "bar.warp.sync 0xffffffff;\n");
      break;
    }
  }
}

void dt_print_kernel(const dt_program *p, const bool *keep, uint64_t number, hd_buf *out) {
  kernel k = {.p = p, .keep = keep, .out = out};
  look(&k);
  hd_buf_printf(out, ".visible .entry p%llu(.param .u64 base)\n{\n", (unsigned long long)number);
  for (dt_class c = DT_H; c < DT_CLASSES; c++)
    hd_buf_printf(out, ".reg %s %%%c<%u>; ", dt_classes[c].type, dt_classes[c].letter, dt_classes[c].n);
  hd_buf_puts(out, ".reg .b32 %ti, %r<4>; .reg .b64 %io, %in, %sc, %gp;\n");
  for (unsigned i = 0; i < READY; i++)
    if (k.needs[i]) hd_buf_printf(out, "%s ", ready[i].declare);
  if (k.shared) hd_buf_printf(out, ".shared .align 2048 .b8 sm[%u];", DT_SHARED_BYTES * p->threads);
  hd_buf_printf(
      out,
      "\nld.param.u64 %%sc, [base]; mov.u32 %%ti, %%tid.x; mad.wide.u32 %%io, %%ti, 8, %%sc;\nadd.u64 "
      "%%in, %%io, %llu; add.u64 %%sc, %%sc, %llu; mad.wide.u32 %%gp, %%ti, 64, %%sc;\n",
      8ull * p->results.n * p->threads, (unsigned long long)dt_program_scratch(p));
  for (unsigned i = READY; i-- > 0;)
    if (k.needs[i]) hd_buf_printf(out, "%s\n", ready[i].text);
  if (k.shared) copy_scratch(&k, "st.shared.v4.b32", "%sp");
  if (k.local) copy_scratch(&k, "st.local.v4.b32", "%lp");
  load_registers(&k);
  put_ops(&k);
  store_registers(&k);
  hd_buf_puts(out, "ret;\n}\n");
}
