/* Turns launches described in words, as on a command line, into the text of a workload.toml, which is then
 * read like any other. Each line of that text records the word that it comes from, so that messages name
 * words.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/container.h"
#include "workload/describe.h"

/* ---- Pieces of the text ---------------------------------------------------------------------- */

static void free_piece(describe_piece *p) {
  hd_buf_free(&p->text);
  hd_vec_free(&p->words);
}

/* ---- Arguments --------------------------------------------------------------------------------- */

static bool is_scalar(const char *text) { return strchr(text, ':') != NULL; }

static bool is_name(const char *text) { return wl_is_identifier(text, strlen(text)); }

static hd_status put_buffer(describing *s, const char *name, const char *text, hd_diag *d) {
  hd_status st = describe_memory(s, "buffer", name, text, d);
  return st == HD_OK ? describe_name(s, name, d) : st;
}

static hd_status put_scalar(describing *s, const char *name, const char *text, hd_diag *d) {
  const char *colon = strchr(text, ':');
  hd_buf_puts(&s->args.text, "  { type = ");
  hd_buf_quote(&s->args.text, text, (size_t)(colon - text));
  hd_buf_puts(&s->args.text, ", value = ");
  hd_buf_quote(&s->args.text, colon + 1, strlen(colon + 1));
  hd_buf_puts(&s->args.text, " },\n");
  return HD_OK;
}

static hd_status put_again(describing *s, const char *name, const char *text, hd_diag *d) {
  for (size_t i = 0; i < s->names.n; i++) {
    if (strcmp(s->names.data[i], text) != 0) continue;
    hd_buf_printf(&s->args.text, "  \"%s\",\n", text);
    return HD_OK;
  }
  return describe_bad_word(s, d, "names no buffer of an --arg before it");
}

/* How an argument may be written: the first form that `is` knows. A form that makes a buffer is given its
 * name.
 */
static const struct {
  const char *form;
  bool (*is)(const char *text);
  hd_status (*put)(describing *s, const char *name, const char *text, hd_diag *d);
} forms[] = {
    {"struct{FIELD, ...}", describe_is_struct, describe_put_struct},
    {"texture{MEMORY, KEY=VALUE, ...}", describe_is_image, describe_put_image},
    {"TYPE[COUNT]=FILL", describe_is_buffer, put_buffer},
    {"TYPE:VALUE", is_scalar, put_scalar},
    {"a buffer's NAME", is_name, put_again},
};
enum { N_FORMS = sizeof forms / sizeof *forms };

hd_status describe_arg(describing *s, const char *unnamed, const char *text, hd_diag *d) {
  size_t n = strcspn(text, "[:={(");
  const bool named = text[n] == '=' && wl_is_identifier(text, n);
  const char *rest = named ? text + n + 1 : text;
  const char *name = named ? hd_arena_strndup(s->arena, text, n) : unnamed;
  if (!name) return hd_nomem(d);
  for (size_t i = 0; i < N_FORMS; i++)
    if (forms[i].is(rest)) return forms[i].put(s, name, rest, d);
  hd_buf what = {0};
  hd_buf_puts(&what, "is none of ");
  for (size_t i = 0; i < N_FORMS; i++) hd_buf_printf(&what, "%s%s", i ? ", " : "", forms[i].form);
  hd_status st = what.failed ? hd_nomem(d) : describe_bad_word(s, d, what.data);
  hd_buf_free(&what);
  return st;
}

static hd_status take_arg(describing *s, const char *text, hd_diag *d) {
  hd_status st = describe_arg(s, hd_arena_printf(s->arena, "arg%zu", ++s->n_args), text, d);
  describe_credit(s, &s->buffers, s->at);
  describe_credit(s, &s->args, s->at);
  return st;
}

static hd_status take_set(describing *s, const char *text, hd_diag *d) {
  hd_status st = describe_set(s, text, d);
  describe_credit(s, &s->buffers, s->at);
  return st;
}

static hd_status take_buffer(describing *s, const char *text, hd_diag *d) {
  const size_t n = strcspn(text, "=");
  const char *name = hd_arena_strndup(s->arena, text, n);
  if (!wl_is_identifier(text, n) || !text[n] || !describe_is_buffer(text + n + 1))
    return describe_bad_word(s, d, "is not NAME=TYPE[COUNT]=FILL");
  if (!name || !hd_vec_push(&s->names, name)) return hd_nomem(d);
  return describe_memory(s, "buffer", name, text + n + 1, d);
}

static hd_status take_cooperative(describing *s, const char *text, hd_diag *d) {
  s->cooperative = true;
  return HD_OK;
}

/* ---- The launch at hand ---------------------------------------------------------------------------- */

/* "64,2" or "64x2": ["64", "2"] */
static hd_status put_dims(describing *s, const char *text, describe_piece *out, const char *key, hd_diag *d) {
  const char *apart = text[strspn(text, "0123456789x")] ? "," : "x";
  hd_buf_clear(&out->text);
  out->words.n = out->read = 0;
  hd_buf_printf(&out->text, "%s = [", key);
  for (const char *p = text;;) {
    size_t n = 0;
    for (int depth = 0; p[n] && (depth || p[n] != apart[0]); n++) depth += (p[n] == '(') - (p[n] == ')');
    hd_buf_quote(&out->text, p, n);
    if (!p[n]) break;
    hd_buf_puts(&out->text, ", ");
    p += n + 1;
  }
  hd_buf_puts(&out->text, "]\n");
  describe_credit(s, out, s->at);
  return out->text.failed ? hd_nomem(d) : HD_OK;
}

static hd_status take_grid(describing *s, const char *text, hd_diag *d) {
  return put_dims(s, text, &s->grid, "grid", d);
}

static hd_status take_block(describing *s, const char *text, hd_diag *d) {
  return put_dims(s, text, &s->block, "block", d);
}

static hd_status take_shared(describing *s, const char *text, hd_diag *d) {
  hd_buf_clear(&s->shared.text);
  s->shared.words.n = s->shared.read = 0;
  hd_buf_puts(&s->shared.text, "shared = ");
  hd_buf_quote(&s->shared.text, text, strlen(text));
  hd_buf_putc(&s->shared.text, '\n');
  describe_credit(s, &s->shared, s->at);
  return s->shared.text.failed ? hd_nomem(d) : HD_OK;
}

/* All kernels are of one module: the first one's. */
static hd_status find_kernel(describing *s, uint32_t *found, hd_diag *d) {
  uint32_t func = 0;
  hd_status st = HD_OK;
  if (s->module)
    st = hd_kernel_find_in(s->module, s->kernel, &func, d);
  else
    st = hd_kernel_find(s->q->name, s->index, s->kernel, s->arena, &s->module, &func, &s->index, d);
  if (st == HD_OK) s->kernel = s->module->syms[s->module->funcs[func].sym].name;
  *found = func;
  return st;
}

static void append(describing *s, describe_piece *to, const describe_piece *from) {
  hd_buf_put(&to->text, from->text.data ? from->text.data : "", from->text.len);
  to->text.failed |= from->text.failed;
  for (size_t i = 0; i < from->words.n; i++)
    if (!hd_vec_push(&to->words, from->words.data[i])) to->text.failed = true;
  to->read = to->text.len;
}

/* What there is to be filled in. */
static hd_status incomplete(const describing *s, uint32_t func, hd_diag *d) {
  hd_buf title = {0}, parameters = {0};
  hd_kernel_title(s->kernel, false, &title);
  const bool failed = describe_parameters(s->module, func, &parameters, d) != HD_OK || title.failed;
  hd_fail(d, HD_ERR_USAGE, "%.200s: %.100s needs its launch, with an --arg for each parameter: %.440s",
          s->q->name, title.data ? title.data : "", parameters.data ? parameters.data : "");
  hd_buf_free(&title);
  hd_buf_free(&parameters);
  return failed ? hd_nomem(d) : HD_ERR_USAGE;
}

/* The block that the kernel itself requires, where no word says one. */
static hd_status take_required_block(describing *s, uint32_t func, hd_diag *d) {
  const hd_ptx_dir *r = hd_ptx_func_dir(s->module, &s->module->funcs[func], HD_M_REQNTID);
  char text[64];
  if (s->block.text.len || !r || !r->n_vals) return HD_OK;
  snprintf(text, sizeof text, "%u,%u,%u", r->vals[0], r->n_vals > 1 ? r->vals[1] : 1,
           r->n_vals > 2 ? r->vals[2] : 1);
  return put_dims(s, text, &s->block, "block", d);
}

static hd_status end_launch(describing *s, hd_diag *d) {
  describe_piece *out = &s->launches;
  uint32_t func;
  hd_status st = find_kernel(s, &func, d);
  const bool own_block = s->block.text.len > 0;
  if (st == HD_OK) st = take_required_block(s, func, d);
  if (st != HD_OK) return st;
  if (!s->grid.text.len || !s->block.text.len) return incomplete(s, func, d);
  hd_kernel_title(s->kernel, false, &s->title);
  if (s->title.failed) return hd_nomem(d);
  hd_buf_printf(&out->text, "\n[[launch]]\nkernel = ");
  hd_buf_quote(&out->text, s->kernel, strlen(s->kernel));
  hd_buf_putc(&out->text, '\n');
  describe_credit(s, out, SIZE_MAX);
  append(s, out, &s->grid);
  append(s, out, &s->block);
  if (!own_block) hd_buf_clear(&s->block.text); /* another kernel requires its own */
  append(s, out, &s->shared);
  if (s->cooperative) hd_buf_puts(&out->text, "cooperative = true\n");
  hd_buf_puts(&out->text, "args = [\n");
  describe_credit(s, out, SIZE_MAX);
  append(s, out, &s->args);
  hd_buf_puts(&out->text, "]\n");
  describe_credit(s, out, SIZE_MAX);
  hd_buf_clear(&s->args.text);
  s->args.words.n = s->args.read = 0;
  s->kernel = NULL;
  return HD_OK;
}

static hd_status take_kernel(describing *s, const char *text, hd_diag *d) {
  hd_status st = s->has_kernel ? end_launch(s, d) : HD_OK;
  if (s->has_kernel) hd_buf_putc(&s->title, '+');
  s->has_kernel = true;
  s->kernel = text;
  return st;
}

/* ---- Words for all launches -------------------------------------------------------------------------- */

static hd_status take_module(describing *s, const char *text, hd_diag *d) {
  if (hd_parse_u64(text, strlen(text), UINT32_MAX, &s->index)) return HD_OK;
  return describe_bad_word(s, d, "should be a module's number, as 'heddle ls' shows it");
}

static hd_status take_near(describing *s, const char *text, hd_diag *d) {
  if (wl_decimal(text, strlen(text), &s->near) && s->near > 0) return HD_OK;
  return describe_bad_word(s, d, "should be a number above 0");
}

static hd_status take_atomics(describing *s, const char *text, hd_diag *d) {
  s->atomics = true;
  return HD_OK;
}

static hd_status take_unwritten(describing *s, const char *text, hd_diag *d) {
  s->unwritten = text;
  s->unwritten_word = s->at;
  return HD_OK;
}

/* Every name is a buffer's. */
static hd_status check_unwritten(describing *s, hd_diag *d) {
  for (const char *p = s->unwritten; p && *p;) {
    const size_t len = strcspn(p, ",");
    size_t k = 0;
    while (k < s->names.n && (strlen(s->names.data[k]) != len || memcmp(s->names.data[k], p, len) != 0)) k++;
    s->at = s->unwritten_word;
    if (k == s->names.n) return describe_bad_word(s, d, "names something that is no buffer of an --arg");
    p += len + (p[len] == ',');
  }
  return HD_OK;
}

static const char arg_help[] =
    "one per parameter, in order: a scalar (s32:512, f32:0.5, u64:7), a buffer\n"
    "TYPE[COUNT]=FILL, e.g. 'f32[262144]=uniform(-1, 1)', 's32[1024]=zero', or a buffer of an\n"
    "argument before it by its name, which is arg1, arg2, ... or given: 'x=f32[64]=iota', 'x';\n"
    "a struct by value of such arguments, 'struct{x, s32:512, f32:0.5}', or an image over a buffer,\n"
    "'texture{x, shape=8x8, filter=linear}', 'surface{...}', with the keys of a workload.toml";

/* Words are taken in this order: those that hold for everything, memory, launches. */
typedef enum word_turn { FOR_ALL, MEMORY, LAUNCHES, TURNS } word_turn;

static const struct {
  hd_launch_option shown;
  word_turn turn;
  hd_status (*take)(describing *s, const char *text, hd_diag *d);
} kinds[] = {
    {{"kernel", 'k', "NAME",
      "the kernel, as its source calls it (default: the only one); again: another\nlaunch, with "
      "the "
      "words behind it"},
     LAUNCHES,
     take_kernel},
    {{"module", 'm', "N", "module number (default: the one that has the kernel)"}, FOR_ALL, take_module},
    {{"grid", 0, "X[,Y[,Z]]", "the launch's grid"}, LAUNCHES, take_grid},
    {{"block", 0, "X[,Y[,Z]]", "threads per CTA (default: as many as the kernel requires)"},
     LAUNCHES,
     take_block},
    {{"shared", 0, "BYTES", "shared memory that the launch adds"}, LAUNCHES, take_shared},
    {{"arg", 0, "A", arg_help}, LAUNCHES, take_arg},
    {{"set", 0, "NAME=V",
      "a variable of the module: NAME=TYPE[COUNT]=FILL or NAME=TYPE:VALUE; NAME is the one in PTX"},
     MEMORY,
     take_set},
    {{"buffer", 0, "NAME=B",
      "a buffer TYPE[COUNT]=FILL that is no argument: other buffers hold addresses in it, "
      "by\n'u64[8]=address(NAME, i * 64)', or an --arg NAME passes it"},
     MEMORY,
     take_buffer},
    {{"cooperative", 0, NULL, "all CTAs are resident at once, as for grid.sync()"},
     FOR_ALL,
     take_cooperative},
    {{"atomics", 0, NULL,
      "atomics add floats in any order, so a result may differ from the original's,\nby 1e-4 of "
      "f32, 1e-10 of f64, 1e-2 of f16"},
     FOR_ALL,
     take_atomics},
    {{"near", 0, "TOL", "as --atomics, by TOL, absolutely and relatively"}, FOR_ALL, take_near},
    {{"unwritten", 0, "A,B",
      "buffers that nothing writes while the kernels run, whatever their text looks like, by\nname: arg1 or "
      "as given; bypass=ro may rely on that"},
     FOR_ALL,
     take_unwritten},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

const hd_launch_option *hd_launch_option_at(size_t i) { return i < N_KINDS ? &kinds[i].shown : NULL; }

static hd_status take_words(describing *s, word_turn turn, hd_diag *d) {
  hd_status st = HD_OK;
  for (s->at = 0; st == HD_OK && s->at < s->q->n_words; s->at++) {
    const hd_launch_word *w = &s->q->words[s->at];
    size_t k = 0;
    while (k < N_KINDS && strcmp(kinds[k].shown.name, w->option) != 0) k++;
    if (k == N_KINDS) return hd_fail(d, HD_ERR_USAGE, "there is no --%.60s for launches", w->option);
    if (kinds[k].turn == turn) st = kinds[k].take(s, w->text, d);
    if (st != HD_OK) break;
  }
  return st;
}

/* ---- The whole text ------------------------------------------------------------------------------------ */

/* Whether a word of the launch has this name in it. */
static bool is_used(const describing *s, const char *name, size_t n) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  for (size_t i = 0; i < s->q->n_words; i++)
    for (const char *p = s->q->words[i].text; p && *(p += strcspn(p, letters)); p += strspn(p, letters))
      if (strspn(p, letters) == n && memcmp(p, name, n) == 0) return true;
  return false;
}

/* "n=512": a parameter of the one size there is. */
static hd_status put_size(describing *s, hd_buf *out, hd_diag *d) {
  hd_buf_puts(out, "[sizes.small]\n");
  for (size_t i = 0; i < s->q->n_set; i++) {
    const char *text = s->q->set[i];
    size_t n = strcspn(text, "=");
    uint64_t value;
    if (!wl_is_identifier(text, n) || !text[n] ||
        !hd_parse_u64(text + n + 1, strlen(text + n + 1), INT64_MAX, &value))
      return hd_fail(d, HD_ERR_USAGE, "--param '%.80s' should be NAME=NUMBER", text);
    if (!is_used(s, text, n))
      return hd_fail(d, HD_ERR_USAGE, "--param '%.80s': no word of the launch names %.*s", text, (int)n,
                     text);
    hd_buf_printf(out, "%.*s = %llu\n", (int)n, text, (unsigned long long)value);
  }
  return HD_OK;
}

static hd_status compose(describing *s, const char *source, uint64_t module, describe_piece *out,
                         hd_diag *d) {
  hd_buf_puts(&out->text, "title = \"launch from the command line\"\nsource = ");
  hd_buf_quote(&out->text, source, strlen(source));
  hd_buf_putc(&out->text, '\n');
  if (module != UINT64_MAX) hd_buf_printf(&out->text, "module = %llu\n", (unsigned long long)module);
  hd_status st = put_size(s, &out->text, d);
  describe_credit(s, out, SIZE_MAX);
  append(s, out, &s->buffers);
  append(s, out, &s->launches);
  return st == HD_OK && out->text.failed ? hd_nomem(d) : st;
}

/* "saxpy-saxpy": the file's name and the kernels', as a file's name can be; longer than the file's, so
 * nothing that is written in its name is the input. */
static const char *name_of(describing *s) {
  enum { MOST = 100 };
  const char *slash = strrchr(s->q->name, '/'), *base = slash ? slash + 1 : s->q->name,
             *dot = strrchr(base, '.');
  size_t n = dot && dot > base ? (size_t)(dot - base) : strlen(base), used = 0;
  char title[MOST + 1];
  for (const char *p = s->title.data ? s->title.data : ""; *p && used < MOST; p++) {
    bool plain = wl_is_identifier(p, 1) || (*p >= '0' && *p <= '9') || *p == '+';
    if (*p == '+' && used && title[used - 1] == '_') used--;
    if (plain || (used && title[used - 1] != '_')) title[used++] = plain ? *p : '_';
  }
  while (used && title[used - 1] == '_') used--;
  char *name = hd_arena_printf(s->arena, "%.*s-%.*s", n > MOST ? MOST : (int)n, base, (int)used, title);
  for (char *p = name; p && *p; p++) /* it goes into JSON and pages */
    if ((unsigned char)*p >= 0x80) *p = '_';
  return name;
}

/* A mistake in the text is one of the word that its line comes from. */
static hd_status blame_word(const describing *s, const describe_piece *p, hd_status st, hd_diag *d) {
  if (!d || !d->line || d->line > p->words.n || strcmp(d->file, s->q->name) != 0) return st;
  size_t word = p->words.data[d->line - 1];
  char message[sizeof d->message];
  memcpy(message, d->message, sizeof message);
  if (word == SIZE_MAX) return hd_fail(d, HD_ERR_USAGE, "%.200s: %.500s", s->q->name, message);
  const hd_launch_word *w = &s->q->words[word];
  return hd_fail(d, HD_ERR_USAGE, "--%s '%.200s': %.500s", w->option, w->text, message);
}

static hd_status open_text(describing *s, hd_workload **out, hd_diag *d) {
  describe_piece all = {0};
  hd_diag e = {0};
  hd_status st = compose(s, "-", s->index, &all, d);
  const char *name = st == HD_OK ? name_of(s) : NULL;
  if (st == HD_OK && !name) st = hd_nomem(d);
  if (st == HD_OK) {
    const wl_input in = {.text = all.text.data,
                         .len = all.text.len,
                         .path = s->q->name,
                         .folder = ".",
                         .name = name,
                         .source = s->q->name,
                         .size = s->q->size,
                         .check_files = true,
                         .keep = true};
    st = wl_read(&in, out, &e);
    if (st != HD_OK) blame_word(s, &all, st, &e);
    if (st != HD_OK && d) *d = e;
    if (st != HD_OK) st = e.status;
  }
  free_piece(&all);
  return st;
}

/* The folder holds all but the files that fills name. */
static hd_status save(describing *s, const hd_workload *w, hd_diag *d) {
  describe_piece all = {0};
  hd_buf text = {0};
  char *ptx = hd_arena_printf(s->arena, "%s/module.ptx", s->q->save);
  char *toml = hd_arena_printf(s->arena, "%s/workload.toml", s->q->save);
  hd_status st = ptx && toml ? hd_folder_make(s->q->save, d) : hd_nomem(d);
  if (st == HD_OK) st = compose(s, "module.ptx", UINT64_MAX, &all, d);
  if (st == HD_OK) st = hd_workload_ptx(w, DESCRIBE_ARCH, &text, NULL, d);
  if (st == HD_OK) st = hd_file_write(ptx, text.data, text.len, d);
  if (st == HD_OK) st = hd_file_write(toml, all.text.data, all.text.len, d);
  hd_buf_free(&text);
  free_piece(&all);
  return st;
}

/* CUDA C is compiled to know its kernels' symbols, which are the same for every architecture. */
static hd_status compile(describing *s, hd_diag *d) {
  const char *dot = strrchr(s->q->name, '.');
  const hd_workload source = {.name = s->q->name, .source = s->q->name, .module = UINT64_MAX};
  if (!dot || strcmp(dot, ".cu") != 0) return HD_OK;
  hd_buf text = {0};
  hd_status st = hd_workload_ptx(&source, DESCRIBE_ARCH, &text, NULL, d);
  if (st == HD_OK) st = hd_ptx_parse(text.data, text.len, s->q->name, s->arena, &s->module, d);
  hd_buf_free(&text);
  return st;
}

hd_status wl_describe(const hd_workload_request *q, hd_workload **out, hd_diag *d) {
  hd_arena arena;
  hd_arena_init(&arena);
  describing s = {.q = q, .arena = &arena, .index = UINT64_MAX};
  hd_status st = take_words(&s, FOR_ALL, d);
  if (st == HD_OK) st = compile(&s, d);
  for (word_turn turn = MEMORY; st == HD_OK && turn < TURNS; turn++) st = take_words(&s, turn, d);
  if (st == HD_OK) st = end_launch(&s, d);
  if (st == HD_OK) st = check_unwritten(&s, d);
  if (st == HD_OK) st = open_text(&s, out, d);
  if (st == HD_OK && q->save && (st = save(&s, *out, d)) != HD_OK) {
    hd_workload_close(*out);
    *out = NULL;
  }
  describe_piece *const pieces[] = {&s.buffers, &s.launches, &s.grid, &s.block, &s.shared, &s.args};
  for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) free_piece(pieces[i]);
  hd_vec_free(&s.names);
  hd_buf_free(&s.title);
  hd_arena_free(&arena);
  return st;
}
