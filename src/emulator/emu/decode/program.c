/* emu/decode/program.c: loads a module: the addresses and initial values of its variables, and its code. */
#include "emu/machine/program.h"
#include "emu/decode/decode.h"
#include "emu/machine/image.h"
#include "heddle/limits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_VAR_ALIGN = 1 << 16 };

static const char *sym_name(const hd_ptx_module *m, hd_sym s) { return m->syms[s].name; }

/* A declaration's definition, or itself. */
static uint32_t definition(const hd_ptx_module *m, uint32_t var) {
  const hd_ptx_sym *s = &m->syms[m->vars[var].sym];
  return s->kind == HD_SYM_VAR && s->decl < m->n_vars ? s->decl : var;
}

static hd_status fail_var(const hd_ptx_module *m, const hd_ptx_var *v, hd_status st, hd_diag *d,
                          const char *what) {
  hd_fail(d, st, "%s %s", sym_name(m, v->sym), what);
  if (d) {
    snprintf(d->file, sizeof d->file, "%s", m->name ? m->name : "");
    d->line = v->line;
    d->column = 1;
  }
  return st;
}

/* ---- Initial values ---------------------------------------------------------------- */

typedef struct filling {
  hd_emu_program *p;
  const hd_ptx_var *var;
  uint32_t index; /* of var */
  char *bytes;    /* host, the variable's */
  uint64_t elem;  /* bytes of a scalar */
  const char *error;
} filling;

/* The address that `sym` stands for in an initial value, generic or in its own space. A symbol without one
 * makes the variable unusable. */
static uint64_t address_value(filling *f, hd_sym sym, bool generic) {
  const hd_ptx_module *m = f->p->module;
  const hd_ptx_sym *s = &m->syms[sym];
  if (s->kind == HD_SYM_FUNC) return f->p->functions + 16 * (uint64_t)s->decl;
  if (s->kind == HD_SYM_VAR) {
    const emu_symbol *v = &f->p->symbols[definition(m, s->decl)];
    const uint64_t base = !generic && m->vars[s->decl].space == HD_M_CONST ? EMU_CONST_BASE : 0;
    if (v->address) return v->address - base;
  }
  f->p->symbols[f->index].missing = s->name;
  return 0;
}

static bool scalar_bits(filling *f, const hd_ptx_opnd *o, uint64_t *bits) {
  const hd_ptx_module *m = f->p->module;
  const hd_mod type = f->var->type;
  const bool f32 = type == HD_M_F32, f64 = type == HD_M_F64;
  double value;
  switch ((hd_ptx_opnd_kind)o->kind) {
  case HD_O_INT:
    *bits = o->bits;
    if (!f32 && !f64) return true;
    value = o->flags & HD_OF_UNSIGNED ? (double)o->bits : (double)o->imm;
    break;
  case HD_O_F32: {
    float x;
    uint32_t b = (uint32_t)o->bits;
    memcpy(&x, &b, sizeof x);
    *bits = o->bits;
    if (!f64) return true; /* as a .b32, the bits */
    value = x;
    break;
  }
  case HD_O_F64:
    memcpy(&value, &o->bits, sizeof value);
    *bits = o->bits;
    if (f->elem == 8) return true;
    if (!f32) return f->error = "has an initial value of another type", false;
    break;
  case HD_O_SYM:
  case HD_O_GENERIC: *bits = address_value(f, o->sym, o->kind == HD_O_GENERIC) + o->bits; return true;
  case HD_O_MASKED: {
    uint64_t address;
    if (!o->bits || !scalar_bits(f, &m->opnds[o->sym], &address))
      return f->error = "has a malformed mask()", false;
    *bits = (address & o->bits) >> __builtin_ctzll(o->bits);
    return true;
  }
  default: return f->error = "has an initial value that is not understood", false;
  }
  if (f64) {
    memcpy(bits, &value, sizeof *bits);
  } else {
    float x = (float)value;
    uint32_t b;
    memcpy(&b, &x, sizeof b);
    *bits = b;
  }
  return true;
}

/* Fill [at, at + room) from o, which stands in `level` braces. */
static bool fill(filling *f, const hd_ptx_opnd *o, uint32_t level, uint64_t at, uint64_t room) {
  const hd_ptx_module *m = f->p->module;
  if (o->kind != HD_O_VEC) {
    uint64_t bits = 0;
    if (room < f->elem || f->elem > sizeof bits)
      return f->error = "has an initial value that does not fit", false;
    if (!scalar_bits(f, o, &bits)) return false;
    memcpy(f->bytes + at, &bits, f->elem);
    return true;
  }
  /* The bytes that one nested brace fills: the array without its first `level + 1` dimensions. */
  if (level > f->var->n_dims) return f->error = "has more braces than dimensions", false;
  uint64_t sub = f->elem;
  if (level < f->var->n_dims) sub *= f->var->vec ? f->var->vec : 1;
  for (uint32_t k = level + 1; k < f->var->n_dims; k++) sub *= m->dims[f->var->first_dim + k];
  uint64_t used = 0;
  for (uint64_t k = 0; k < o->n_kids; k++) {
    const hd_ptx_opnd *kid = &m->opnds[o->sym + k];
    uint64_t size = kid->kind == HD_O_VEC ? sub : f->elem;
    if (kid->kind == HD_O_VEC && used % sub) used += sub - used % sub;
    if (used > room || size > room - used) return f->error = "has more initial values than elements", false;
    if (!fill(f, kid, level + 1, at + used, size)) return false;
    used += size;
  }
  return true;
}

static hd_status initialise(hd_emu_program *p, uint32_t index, hd_diag *d) {
  const hd_ptx_var *v = &p->module->vars[index];
  const emu_symbol *s = &p->symbols[index];
  filling f = {p, v, index, hd_emu_ptr(p->emu, s->address, s->bytes), hd_ptx_type_size(v->type), NULL};
  if (!f.elem || !f.bytes)
    return fail_var(p->module, v, HD_ERR_UNSUPPORTED, d, "has an initial value of opaque type");
  if (!fill(&f, &p->module->opnds[v->init - 1], 0, 0, s->bytes))
    return fail_var(p->module, v, HD_ERR_INPUT, d, f.error);
  return HD_OK;
}

/* ---- Variables ------------------------------------------------------------------------- */

static hd_status place(hd_emu_program *p, uint32_t index, hd_diag *d) {
  const hd_ptx_module *m = p->module;
  const hd_ptx_var *v = &m->vars[index];
  emu_symbol *s = &p->symbols[index];
  s->bytes = hd_ptx_var_size(m, v);
  if (s->bytes == UINT64_MAX) return fail_var(m, v, HD_ERR_INPUT, d, "is larger than 2^64 bytes");
  if (v->linkage & HD_LINK_EXTERN || !hd_ptx_type_size(v->type)) {
    s->bytes = 0;
    s->missing = sym_name(m, v->sym);
    return HD_OK;
  }
  uint64_t align = hd_ptx_var_align(v);
  if (align & (align - 1) || align > MAX_VAR_ALIGN)
    return fail_var(m, v, HD_ERR_INPUT, d, "has an impossible alignment");
  hd_diag why = {0};
  hd_status st = hd_emu_alloc_aligned(p->emu, s->bytes, align, &s->address, &why);
  if (st != HD_OK) {
    char text[192];
    hd_fit(text, sizeof text, "does not fit: %s", why.message);
    return fail_var(m, v, st, d, text);
  }
  return HD_OK;
}

/* .const variables of a bank, of those in none too, share 64 KB. */
static hd_status check_constants(const hd_emu_program *p, hd_diag *d) {
  enum { BANKS = 12 };
  const hd_ptx_module *m = p->module;
  uint64_t used[BANKS] = {0};
  for (uint32_t k = 0; k < m->n_vars; k++) {
    const hd_ptx_var *v = &m->vars[k];
    if (v->space != HD_M_CONST || !p->symbols[k].address) continue;
    uint64_t *bank = &used[v->bank < BANKS ? v->bank : 0];
    *bank += p->symbols[k].bytes;
    if (*bank <= HD_MAX_CONST) continue;
    char text[128];
    snprintf(text, sizeof text, "makes %" PRIu64 " bytes of .const variables: %d are possible", *bank,
             HD_MAX_CONST);
    return fail_var(m, v, HD_ERR_INPUT, d, text);
  }
  return HD_OK;
}

static bool in_device_memory(const hd_ptx_module *m, uint32_t var) {
  const hd_ptx_var *v = &m->vars[var];
  return (v->space == HD_M_GLOBAL || v->space == HD_M_CONST) && v->sym && definition(m, var) == var;
}

static hd_status load_variables(hd_emu_program *p, hd_diag *d) {
  const hd_ptx_module *m = p->module;
  hd_status st = HD_OK;
  for (uint32_t k = 0; st == HD_OK && k < m->n_vars; k++)
    if (in_device_memory(m, k)) st = place(p, k, d);
  if (st == HD_OK) st = check_constants(p, d);
  /* Addresses first: initial values may name any variable. */
  for (uint32_t k = 0; st == HD_OK && k < m->n_vars; k++) {
    const emu_symbol *s = &p->symbols[k];
    if (!s->address) continue;
    if (m->vars[k].init) st = initialise(p, k, d);
    hd_emu_mark_written(p->emu, s->address, s->bytes);
    if (m->vars[k].space == HD_M_CONST) emu_set_readonly(p->emu, s->address);
  }
  return st;
}

void hd_emu_reset(hd_emu_program *p) {
  for (uint32_t k = 0; k < p->module->n_vars; k++) {
    const emu_symbol *s = &p->symbols[k];
    if (!s->address) continue;
    memset(hd_emu_ptr(p->emu, s->address, s->bytes), 0, s->bytes);
    if (p->module->vars[k].init) initialise(p, k, NULL); /* as it went when the module was loaded */
  }
}

static uint64_t address_of(void *ctx, uint32_t var, bool *ok) {
  const hd_emu_program *p = ctx;
  *ok = false;
  if (var >= p->module->n_vars) return 0;
  const emu_symbol *s = &p->symbols[definition(p->module, var)];
  *ok = s->address && !s->missing;
  return s->address;
}

/* ---- Code --------------------------------------------------------------------------------- */

/* Calls from one function to another; to == UINT32_MAX: to any function. */
typedef struct edge {
  uint32_t from, to;
} edge;

static bool join(emu_traits *a, const emu_traits *b) {
  emu_traits old = *a;
  a->order_sensitive |= b->order_sensitive;
  a->releases |= b->releases;
  a->depends |= b->depends;
  a->prints |= b->prints;
  a->allocates |= b->allocates;
  a->noncoherent |= b->noncoherent;
  a->indirect |= b->indirect;
  return memcmp(&old, a, sizeof old) != 0;
}

static bool join_edge(const hd_emu_program *p, const edge *e) {
  if (e->to != UINT32_MAX) return join(&p->traits[e->from], &p->traits[e->to]);
  bool changed = false;
  for (uint32_t k = 0; k < p->module->n_funcs; k++)
    if (!p->module->funcs[k].entry) changed |= join(&p->traits[e->from], &p->traits[k]);
  return changed;
}

static bool has_noncoherent(const hd_ptx_module *m, const hd_ptx_func *f) {
  for (uint32_t i = 0; i < f->n_stmts; i++)
    if (f->stmts[i].kind == HD_S_INST && hd_ptx_access_of(&m->forms[f->stmts[i].form]).noncoherent)
      return true;
  return false;
}

static hd_status find_traits(hd_emu_program *p, hd_diag *d) {
  const int print = emu_find_builtin("vprintf"), alloc = emu_find_builtin("malloc"),
            release = emu_find_builtin("free");
  HD_VEC(edge) edges = {0};
  bool ok = true;
  for (uint32_t k = 0; k < p->module->n_funcs; k++) {
    const emu_code *code = p->codes[k];
    if (!code) continue;
    p->traits[k].order_sensitive = code->order_sensitive;
    p->traits[k].releases = code->releases;
    p->traits[k].depends = code->depends;
    p->traits[k].noncoherent = has_noncoherent(p->module, &p->module->funcs[k]);
    for (uint32_t n = 0; n < code->n_insts; n++) {
      if (code->insts[n].control != EMU_CALL) continue;
      const emu_call *call = code->insts[n].extra;
      if (call->builtin) {
        p->traits[k].prints |= call->builtin == print;
        p->traits[k].allocates |= call->builtin == alloc || call->builtin == release;
        continue;
      }
      p->traits[k].indirect |= !call->callee;
      edge e = {k, call->callee ? (uint32_t)(call->callee->func - p->module->funcs) : UINT32_MAX};
      ok = ok && hd_vec_push(&edges, e);
    }
  }
  /* Callees mostly stand before their callers, or all behind them: passes in both directions. */
  for (bool changed = ok; changed;) {
    changed = false;
    for (size_t n = 0; n < edges.n; n++) changed |= join_edge(p, &edges.data[n]);
    for (size_t n = edges.n; n-- > 0;) changed |= join_edge(p, &edges.data[n]);
  }
  hd_vec_free(&edges);
  return ok ? HD_OK : hd_nomem(d);
}

/* ---- Programs of an emulator ------------------------------------------------------------------ */

/* Give it addresses for its functions: the first that no other program has. */
static bool enlist(hd_emu *e, hd_emu_program *p) {
  emu_layout_changes(e);
  pthread_rwlock_wrlock(&e->lock);
  hd_emu_program **at = &e->programs;
  uint64_t base = EMU_FUNC_BASE;
  /* Behind the highest one, or, where that is the last place, in a gap. */
  if (*at && (*at)->functions + 2 * (uint64_t)EMU_FUNC_ROOM <= EMU_FUNC_BASE + EMU_WINDOW_BYTES) {
    base = (*at)->functions + EMU_FUNC_ROOM;
  } else if (*at) {
    while ((*at)->next && (*at)->functions - (*at)->next->functions == EMU_FUNC_ROOM) at = &(*at)->next;
    base = (*at)->functions - EMU_FUNC_ROOM;
    at = &(*at)->next;
  }
  const bool room = base >= EMU_FUNC_BASE && p->module->n_funcs <= EMU_FUNC_ROOM / 16;
  if (room) {
    p->functions = base;
    p->next = *at;
    *at = p;
  }
  pthread_rwlock_unlock(&e->lock);
  return room;
}

static void delist(hd_emu *e, hd_emu_program *p) {
  emu_layout_changes(e);
  pthread_rwlock_wrlock(&e->lock);
  hd_emu_program **at = &e->programs;
  while (*at && *at != p) at = &(*at)->next;
  if (*at) *at = p->next;
  pthread_rwlock_unlock(&e->lock);
}

hd_status hd_emu_load(hd_emu *e, const hd_ptx_module *m, hd_emu_program **out, hd_diag *d) {
  *out = NULL;
  hd_emu_program *p = calloc(1, sizeof *p);
  if (!p) return hd_nomem(d);
  p->emu = e;
  p->module = m;
  hd_arena_init(&p->arena);
  p->symbols = HD_NEW_N(&p->arena, (size_t)m->n_vars + 1, emu_symbol);
  p->traits = HD_NEW_N(&p->arena, (size_t)m->n_funcs + 1, emu_traits);
  if (!p->symbols || !p->traits) {
    hd_emu_unload(p);
    return hd_nomem(d);
  }
  hd_status st = enlist(e, p)
                     ? load_variables(p, d)
                     : hd_fail(d, HD_ERR_INPUT, "%s has too many functions, %u", m->name, m->n_funcs);
  if (st == HD_OK) {
    emu_decode_env env = {.m = m,
                          .arena = &p->arena,
                          .isa = e->opt.isa,
                          .sm = e->opt.sm,
                          .functions = p->functions,
                          .address_of = address_of,
                          .ctx = p};
    st = emu_decode_module(&env, &p->codes, d);
  }
  for (uint32_t k = 0; st == HD_OK && k < m->n_funcs; k++)
    if (p->codes[k]) p->codes[k]->program = p;
  if (st == HD_OK) st = find_traits(p, d);
  if (st != HD_OK) {
    hd_emu_unload(p);
    return st;
  }
  *out = p;
  return HD_OK;
}

void hd_emu_unload(hd_emu_program *p) {
  if (!p) return;
  delist(p->emu, p);
  for (uint32_t k = 0; p->symbols && k < p->module->n_vars; k++)
    if (p->symbols[k].address) hd_emu_free(p->emu, p->symbols[k].address, NULL);
  hd_arena_free(&p->arena);
  free(p);
}

hd_status hd_emu_supported(const hd_emu_program *p, const char *kernel, hd_diag *d) {
  int64_t k = hd_ptx_find_kernel(p->module, kernel);
  if (k < 0 || !p->module->funcs[k].entry || !p->codes[k])
    return hd_fail(d, HD_ERR_USAGE, "%s has no kernel %s", p->module->name, kernel ? kernel : "");
  if (p->codes[k]->unsupported.status != HD_OK && d) *d = p->codes[k]->unsupported;
  return p->codes[k]->unsupported.status;
}

bool hd_emu_may_wait(const hd_emu_program *p, const char *kernel) {
  const int64_t k = hd_ptx_find_kernel(p->module, kernel);
  return k >= 0 && (p->traits[k].order_sensitive || p->traits[k].indirect);
}

uint32_t hd_emu_static_shared(const hd_emu_program *p, const char *kernel) {
  int64_t k = hd_ptx_find_kernel(p->module, kernel);
  return k >= 0 && p->codes[k] ? p->codes[k]->shared_bytes : 0;
}

/* The module's variable of this name, by its definition; -1: none. */
static int64_t find_variable(const hd_emu_program *p, const char *name) {
  const hd_ptx_module *m = p->module;
  for (uint32_t k = 0; k < m->n_items; k++) {
    if (m->items[k].kind != HD_I_VAR) continue;
    const uint32_t var = definition(m, m->items[k].index);
    if (m->vars[var].sym && strcmp(sym_name(m, m->vars[var].sym), name) == 0) return var;
  }
  return -1;
}

hd_status hd_emu_symbol(hd_emu_program *p, const char *name, uint64_t *address, uint64_t *bytes, hd_diag *d) {
  const int64_t var = find_variable(p, name);
  if (var < 0 || !p->symbols[var].address)
    return hd_fail(d, HD_ERR_USAGE, "%s has no .global or .const variable %s", p->module->name, name);
  *address = p->symbols[var].address;
  *bytes = p->symbols[var].bytes;
  return HD_OK;
}

hd_status hd_emu_bind(hd_emu_program *p, const char *name, uint64_t handle, hd_diag *d) {
  const int64_t var = find_variable(p, name);
  const hd_mod type = var < 0 ? HD_M_NONE : p->module->vars[var].type;
  const emu_image_object *x = emu_image_find(p->emu, handle);
  if (type != HD_M_TEXREF && type != HD_M_SURFREF)
    return hd_fail(d, HD_ERR_USAGE, "%s has no .texref or .surfref variable %s", p->module->name, name);
  if (handle && (!x || x->use != (type == HD_M_TEXREF ? EMU_IMAGE_TEXTURE : EMU_IMAGE_SURFACE)))
    return hd_fail(d, HD_ERR_USAGE, "%s: 0x%" PRIx64 " is the handle of no %s", name, handle,
                   type == HD_M_TEXREF ? "texture" : "surface");
  p->symbols[var].handle = handle;
  emu_layout_changes(p->emu);
  return HD_OK;
}
