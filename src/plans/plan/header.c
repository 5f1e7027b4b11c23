/* Prints heddle/cta_orders.h: the programs of orders and clusters as functions in C, for kernels edited by
 * hand.
 *
 * One statement a value, in the program's order, so that a variable is read when the program reads it. A
 * value of at most 2^32 - 1 is an unsigned; one operand of an operation whose result is wider is widened
 * first. */
#include <inttypes.h>

#include "plan/order.h"

/* ---- Statements -------------------------------------------------------------------- */

enum { MOST_INPUTS = 10 };

/* The name of a function's parameter that stands for an input of its program. Lists end with a name of NULL.
 */
typedef struct input {
  hd_pop op;
  const char *name;
} input;

static bool is_wide(const hd_prog *p, uint32_t v) { return p->vals[v].max > UINT32_MAX; }
static const char *type_of(const hd_prog *p, uint32_t v) {
  return is_wide(p, v) ? "unsigned long long" : "unsigned";
}

static const char *input_name(const input *in, hd_pop op) {
  while (in->name && in->op != op) in++;
  return in->name ? in->name : "0u";
}

static void put_operand(const hd_prog *p, const input *in, uint32_t v, hd_buf *out) {
  const hd_pval *val = &p->vals[v];
  if (val->op == HD_P_CONST)
    hd_buf_printf(out, "%" PRIu64 "%s", val->imm, is_wide(p, v) ? "ull" : "u");
  else if (val->op < HD_P_VAR)
    hd_buf_puts(out, input_name(in, val->op));
  else
    hd_buf_printf(out, "v%u", v);
}

/* Operators between two operands. */
static const char *const infix[HD_P_TABLE + 1] = {
    [HD_P_ADD] = "+",  [HD_P_SUB] = "-",  [HD_P_MUL] = "*", [HD_P_DIV] = "/",
    [HD_P_REM] = "%",  [HD_P_AND] = "&",  [HD_P_OR] = "|",  [HD_P_XOR] = "^",
    [HD_P_SHL] = "<<", [HD_P_SHR] = ">>", [HD_P_LT] = "<",  [HD_P_EQ] = "==",
};

static void put_infix(const hd_prog *p, const input *in, uint32_t i, hd_buf *out) {
  const hd_pval *v = &p->vals[i];
  bool widened = is_wide(p, i) && !is_wide(p, v->a);
  bool narrowed =
      !is_wide(p, i) && v->op != HD_P_LT && v->op != HD_P_EQ && (is_wide(p, v->a) || is_wide(p, v->b));
  hd_buf_puts(out, narrowed ? "(unsigned)(" : widened ? "(unsigned long long)" : "");
  put_operand(p, in, v->a, out);
  hd_buf_printf(out, " %s ", infix[v->op]);
  put_operand(p, in, v->b, out);
  if (narrowed) hd_buf_putc(out, ')');
}

/* cond ? x : y of operands. */
static void put_choice(const hd_prog *p, const input *in, uint32_t i, hd_buf *out) {
  const hd_pval *v = &p->vals[i];
  bool narrowed = !is_wide(p, i) && (is_wide(p, v->a) || is_wide(p, v->b)) && v->op != HD_P_SELECT;
  uint32_t x = v->op == HD_P_SELECT ? v->b : v->a, y = v->op == HD_P_SELECT ? v->c : v->b;
  hd_buf_puts(out, narrowed ? "(unsigned)(" : "");
  put_operand(p, in, v->a, out);
  if (v->op != HD_P_SELECT) {
    hd_buf_puts(out, v->op == HD_P_MIN ? " < " : " > ");
    put_operand(p, in, v->b, out);
  }
  hd_buf_puts(out, " ? ");
  put_operand(p, in, x, out);
  hd_buf_puts(out, " : ");
  put_operand(p, in, y, out);
  if (narrowed) hd_buf_putc(out, ')');
}

static void put_statement(const hd_prog *p, const input *in, uint32_t i, unsigned *depth, hd_buf *out) {
  const hd_pval *v = &p->vals[i];
  if (v->op < HD_P_VAR) return;
  if (v->op == HD_P_ENDLOOP) --*depth;
  hd_buf_printf(out, "%*s", (int)(2 * *depth), "");
  switch (v->op) {
  case HD_P_LOOP:
    hd_buf_puts(out, "for (;;) {\n");
    ++*depth;
    return;
  case HD_P_ENDLOOP: hd_buf_puts(out, "}\n"); return;
  case HD_P_BREAK_IF:
    hd_buf_puts(out, "if (");
    put_operand(p, in, v->a, out);
    hd_buf_puts(out, ") break");
    break;
  case HD_P_ASSIGN:
    hd_buf_printf(out, "v%u = ", v->a);
    put_operand(p, in, v->b, out);
    break;
  case HD_P_VAR:
    hd_buf_printf(out, "%s v%u = ", type_of(p, i), i);
    put_operand(p, in, v->a, out);
    break;
  default:
    hd_buf_printf(out, "const %s v%u = ", type_of(p, i), i);
    if (infix[v->op])
      put_infix(p, in, i, out);
    else
      put_choice(p, in, i, out);
    break;
  }
  hd_buf_puts(out, ";\n");
}

static bool reads(const hd_prog *p, hd_pop op) {
  for (uint32_t i = 0; i < p->n; i++)
    if (p->vals[i].op == op) return true;
  return false;
}

/* The body up to the result. */
static void put_body(const hd_prog *p, const input *in, hd_buf *out) {
  unsigned depth = 1;
  for (uint32_t i = 0; i < p->n; i++) put_statement(p, in, i, &depth, out);
}

static void put_parameters(const input *in, hd_buf *out) {
  for (unsigned k = 0; in[k].name; k++)
    if (in[k].op != HD_P_V || in[k].name[0] != '(')
      hd_buf_printf(out, "%sunsigned %s", k ? ", " : "", in[k].name);
}

static void put_unused(const hd_prog *p, const input *in, hd_buf *out) {
  for (; in->name; in++)
    if (!reads(p, in->op)) hd_buf_printf(out, "  (void)%s;\n", in->name);
}

/* ---- Orders ----------------------------------------------------------------------------- */

typedef struct order_function {
  hd_order_kind kind;
  const char *name, *what;
  const char *a, *b, *c; /* parameters; NULL: none */
} order_function;

static const order_function ORDERS[] = {
    {HD_ORDER_ROW, "row", "x fastest, then y, then z: the hardware's own order", NULL, NULL, NULL},
    {HD_ORDER_COL, "col", "y fastest, then x, then z", NULL, NULL, NULL},
    {HD_ORDER_BAND, "band", "Bands of `height` rows, y fastest inside a band", "height", NULL, NULL},
    {HD_ORDER_TILE, "tile", "Tiles of width x height, x fastest inside a tile", "width", "height", NULL},
    {HD_ORDER_TILE, "tile_rows", "Tiles of width x height of row-order positions in rows of `length`",
     "width", "height", "length"},
    {HD_ORDER_ZIGZAG, "zigzag", "Rows of `groups` groups of `size` positions, odd rows backwards", "groups",
     "size", NULL},
    {HD_ORDER_STRIDE, "stride", "Groups of `size` positions, taken `apart` groups apart", "apart", "size",
     NULL},
    {HD_ORDER_HILBERT, "hilbert", "The Hilbert curve of each plane", NULL, NULL, NULL},
    {HD_ORDER_REVERSE, "reverse", "Row order backwards", NULL, NULL, NULL},
};

static hd_status put_order(const order_function *f, hd_buf *out, hd_diag *d) {
  hd_prog p;
  hd_status st = plan_symbolic_program(f->kind, f->c != NULL, &p, d);
  if (st != HD_OK) return st;
  input in[MOST_INPUTS] = {{HD_P_POS, "position"}};
  unsigned n = 1;
  if (f->a) in[n++] = (input){HD_P_A, f->a};
  if (f->b) in[n++] = (input){HD_P_B, f->b};
  if (f->c) in[n++] = (input){HD_P_C, f->c};
  in[n++] = (input){HD_P_NX, "nx"};
  in[n++] = (input){HD_P_NY, "ny"};
  in[n++] = (input){HD_P_NZ, "nz"};
  hd_buf_printf(out, "\n/* %s. */\nHEDDLE_CTA_FN heddle_cell heddle_order_%s(\n    ", f->what, f->name);
  put_parameters(in, out);
  hd_buf_puts(out, ") {\n");
  if (reads(&p, HD_P_V)) {
    hd_buf_puts(out, "  const unsigned tasks = nx * ny * nz;\n");
    in[n++] = (input){HD_P_V, "tasks"};
  } else {
    put_unused(&p, in, out);
  }
  put_body(&p, in, out);
  hd_buf_puts(out, "  heddle_cell cell;\n");
  for (unsigned k = 0; k < 3; k++) {
    hd_buf_printf(out, "  cell.%c = ", "xyz"[k]);
    put_operand(&p, in, p.out[k], out);
    hd_buf_puts(out, ";\n");
  }
  hd_buf_puts(out, "  return cell;\n}\n");
  return HD_OK;
}

/* ---- Clusters ----------------------------------------------------------------------------- */

static plan_val deal(plan_builder *b, plan_val V, plan_val M) {
  return plan_deal_by(b, V, M, plan_input(b, HD_P_POS, 0, UINT32_MAX - 1));
}
static plan_val quota(plan_builder *b, plan_val V, plan_val M) {
  return plan_quota_by(b, V, M, plan_input(b, HD_P_CLUSTER, 0, UINT32_MAX - 1));
}
static plan_val place(plan_builder *b, plan_val V, plan_val M) {
  plan_val w = plan_input(b, HD_P_POS, 0, UINT32_MAX - 1);
  return plan_place_by(b, V, M, plan_input(b, HD_P_CLUSTER, 0, UINT32_MAX - 1), w);
}

typedef struct cluster_function {
  const char *name, *what;
  plan_val (*build)(plan_builder *, plan_val V, plan_val M);
  input in[MOST_INPUTS];
} cluster_function;

static const cluster_function CLUSTERS[] = {
    {"deal",
     "The position of worker u when workers go round the clusters in turn (CLU eq. 7 and 8; listing 4)",
     deal,
     {{HD_P_POS, "worker"}, {HD_P_A, "clusters"}, {HD_P_V, "tasks"}}},
    {"quota",
     "The number of a cluster's tasks",
     quota,
     {{HD_P_CLUSTER, "cluster"}, {HD_P_A, "clusters"}, {HD_P_V, "tasks"}}},
    {"place",
     "The position of task `rank` of a cluster (CLU eq. 7)",
     place,
     {{HD_P_CLUSTER, "cluster"}, {HD_P_POS, "rank"}, {HD_P_A, "clusters"}, {HD_P_V, "tasks"}}},
};

static hd_status put_cluster(const cluster_function *f, hd_buf *out, hd_diag *d) {
  plan_builder b;
  hd_prog p;
  plan_begin(&b);
  plan_val V = plan_input(&b, HD_P_V, 1, UINT32_MAX), M = plan_input(&b, HD_P_A, 1, UINT32_MAX);
  plan_val result = f->build(&b, V, M);
  hd_status st = plan_finish(&b, (const plan_val[3]){result, result, result}, &p, d);
  if (st != HD_OK) return st;
  hd_buf_printf(out, "\n/* %s. */\nHEDDLE_CTA_FN unsigned heddle_cluster_%s(\n    ", f->what, f->name);
  put_parameters(f->in, out);
  hd_buf_puts(out, ") {\n");
  put_body(&p, f->in, out);
  hd_buf_puts(out, "  return ");
  put_operand(&p, f->in, p.out[0], out);
  hd_buf_puts(out, ";\n}\n");
  return HD_OK;
}

/* ---- The file ------------------------------------------------------------------------------- */

static const char HEAD[] =
    "/* heddle/cta_orders.h: the orders of heddle/plan.h as functions, in C and in CUDA C.\n"
    " *\n"
    " * Generated by `heddle header` from the programs that heddle lowers to PTX: the same arithmetic.\n"
    " *\n"
    " * heddle_order_NAME(position, parameters, nx, ny, nz): the cell that has this position in the order.\n"
    " * The grid has nx x ny x nz CTAs, fewer than 2^32; positions lie below their number; parameters are\n"
    " * at least 1. Numbers that are constants where a function is called fold away.\n"
    " *\n"
    " * Clusters: tasks 0 .. `tasks`-1 cut into `clusters` runs of consecutive positions whose lengths\n"
    " * differ by at most one. */\n"
    "#ifndef HEDDLE_CTA_ORDERS_H\n"
    "#define HEDDLE_CTA_ORDERS_H\n"
    "\n"
    "#if defined(__CUDACC__) || defined(__CUDA__)\n"
    "#define HEDDLE_CTA_FN static __host__ __device__ inline\n"
    "#else\n"
    "#define HEDDLE_CTA_FN static inline\n"
    "#endif\n"
    "\n"
    "/* A CTA of the grid. */\n"
    "typedef struct heddle_cell {\n"
    "  unsigned x, y, z;\n"
    "} heddle_cell;\n";

hd_status hd_plan_header(hd_buf *out, hd_diag *d) {
  hd_status st = HD_OK;
  hd_buf_puts(out, HEAD);
  for (size_t i = 0; st == HD_OK && i < sizeof ORDERS / sizeof *ORDERS; i++)
    st = put_order(&ORDERS[i], out, d);
  for (size_t i = 0; st == HD_OK && i < sizeof CLUSTERS / sizeof *CLUSTERS; i++)
    st = put_cluster(&CLUSTERS[i], out, d);
  hd_buf_puts(out, "\n#endif\n");
  return st == HD_OK && out->failed ? hd_nomem(d) : st;
}
