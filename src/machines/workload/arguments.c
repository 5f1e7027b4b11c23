/* Arguments of a launch: buffers, scalars, images, and structs of them. */
#include <string.h>

#include "heddle/limits.h"
#include "workload/reader.h"

enum { MAX_DEPTH = 16, POINTER_BYTES = 8 };

uint64_t hd_wl_arg_bytes(const hd_wl_arg *a) {
  if (a->fields) return a->bytes;
  if (a->tensor) return HD_TENSOR_MAP_BYTES;
  return a->is_buffer || a->image ? POINTER_BYTES : hd_elem_bytes(a->type);
}

static uint64_t align_of(const hd_wl_arg *a) {
  return a->tensor ? (uint64_t)HD_TENSOR_MAP_ALIGN : hd_wl_arg_bytes(a);
}

/* ---- Scalars and pointers ----------------------------------------------------------- */

/* Of fields of structs: where they lie, and how often one stands there. */
#define FIELD_KEYS "at", "repeat"
static const char *const SCALAR_KEYS[] = {"type", "value", FIELD_KEYS, NULL};
static const char *const POINTER_KEYS[] = {"buffer", "offset", FIELD_KEYS, NULL};

/* `v`, the value of t[key] or an element of it, as a number of a->type. */
static hd_status read_value(wl_reader *r, const json_t *t, const char *key, const json_t *v, hd_wl_arg *a) {
  if (json_is_real(v)) {
    if (!wl_elem(a->type)->is_float)
      return wl_bad(r, t, key, "a %s argument needs an integer", hd_elem_name(a->type));
    a->bits = wl_elem_from_double(a->type, json_real_value(v));
    return HD_OK;
  }
  const char *text = json_is_string(v) ? json_string_value(v) : "";
  double number;
  if (wl_elem(a->type)->is_float && wl_decimal(text, strlen(text), &number)) {
    a->bits = wl_elem_from_double(a->type, number);
    return HD_OK;
  }
  int64_t x = 0;
  hd_status st = wl_get_integer(r, t, key, v, key, INT64_MIN, INT64_MAX, &x);
  if (st != HD_OK) return st;
  if (!wl_elem_holds(a->type, x))
    return wl_bad(r, t, key, "%lld does not fit in %s", (long long)x, hd_elem_name(a->type));
  a->bits = wl_elem_from_int(a->type, x);
  return HD_OK;
}

/* { type = "s32", value = "n" } */
static hd_status read_scalar(wl_reader *r, const json_t *t, hd_wl_arg *a) {
  hd_status st = wl_only(r, t, SCALAR_KEYS);
  if (st != HD_OK || (st = wl_get_elem(r, t, "type", &a->type)) != HD_OK) return st;
  const json_t *v = json_object_get(t, "value");
  if (!v) return wl_bad(r, t, "type", "an argument's 'value' is missing");
  return read_value(r, t, "value", v, a);
}

static hd_status put_buffer(wl_reader *r, const json_t *t, const char *key, uint32_t buffer, hd_wl_arg *a) {
  const hd_wl_buffer *b = &r->w->buffers[buffer];
  if (b->variable) return wl_bad(r, t, key, "'%.60s' is a variable of the module and no argument", b->name);
  *a = (hd_wl_arg){.is_buffer = true, .buffer = buffer, .type = b->type};
  return HD_OK;
}

/* { buffer = "a", offset = "n" }: the address of a's element n. */
static hd_status read_pointer(wl_reader *r, const json_t *t, hd_wl_arg *a) {
  const char *name;
  uint32_t buffer;
  int64_t offset = 0;
  hd_status st = wl_only(r, t, POINTER_KEYS);
  if (st != HD_OK || (st = wl_get_string(r, t, "buffer", NULL, &name)) != HD_OK) return st;
  if (!wl_find_buffer(r, name, &buffer)) return wl_bad(r, t, "buffer", "there is no buffer '%.60s'", name);
  if ((st = put_buffer(r, t, "buffer", buffer, a)) != HD_OK) return st;
  const hd_wl_buffer *b = &r->w->buffers[buffer];
  const json_t *v = json_object_get(t, "offset");
  if (v) st = wl_get_integer(r, t, "offset", v, "offset", 0, (int64_t)b->count, &offset);
  a->offset = (uint64_t)offset * hd_elem_bytes(b->type);
  return st;
}

/* ---- Names ------------------------------------------------------------------------------ */

static hd_status read_name(wl_reader *r, const json_t *launch, const char *name, hd_wl_arg *a) {
  uint32_t buffer;
  if (wl_find_buffer(r, name, &buffer)) return put_buffer(r, launch, "args", buffer, a);
  for (uint32_t i = 0; i < r->w->n_images; i++)
    if (strcmp(r->w->images[i].name, name) == 0) {
      *a = (hd_wl_arg){.image = i + 1};
      return HD_OK;
    }
  wl_error e = {0};
  wl_error_set(&e, 0, "there is no buffer '%.60s'", name);
  for (size_t i = 0; i < r->names.n; i++)
    if (strcmp(r->names.data[i].name, name) == 0)
      wl_error_set(&e, 0, "'%s' is no buffer but a size: write { type = \"s32\", value = \"%s\" }", name,
                   name);
  return wl_bad_text(r, launch, "args", name, &e);
}

/* ---- Structs -------------------------------------------------------------------------------- */

static const char *const STRUCT_KEYS[] = {"struct", "align", "bytes", FIELD_KEYS, NULL};
static const char *const VALUES_KEYS[] = {"type", "values", FIELD_KEYS, NULL};

/* A struct's fields as they are read, those of structs in it among them, and how far they reach. */
typedef struct layout {
  wl_reader *r;
  const json_t *launch;
  unsigned depth;
  hd_wl_field *fields;
  uint32_t n, cap;
  uint64_t end, align;
} layout;

static uint64_t round_up(uint64_t v, uint64_t align) { return (v + align - 1) / align * align; }

static void push(layout *l, hd_wl_field f) {
  if (l->n == l->cap) {
    const uint32_t cap = l->cap ? 2 * l->cap : 16;
    hd_wl_field *grown = HD_NEW_N(l->r->arena, cap, hd_wl_field);
    if (l->n) memcpy(grown, l->fields, l->n * sizeof *grown);
    l->fields = grown;
    l->cap = cap;
  }
  l->fields[l->n++] = f;
}

/* Put one more field behind the others, or at *at. False: it has no room there. */
static bool put_field(layout *l, const hd_wl_arg *value, const int64_t *at) {
  const uint64_t bytes = hd_wl_arg_bytes(value), align = value->fields ? value->bits : align_of(value);
  const uint64_t from = at ? (uint64_t)*at : round_up(l->end, align);
  if (from < l->end || from + bytes > HD_MAX_PARAMS) return false;
  if (!value->fields) push(l, (hd_wl_field){from, *value});
  for (uint32_t k = 0; value->fields && k < value->n_fields; k++)
    push(l, (hd_wl_field){from + value->fields[k].at, value->fields[k].value});
  l->end = from + bytes;
  if (l->align < align) l->align = align;
  return true;
}

/* The keys of `t` beside a field's own: its offset, its number of repetitions, several numbers. */
typedef struct placing {
  bool has_at;
  int64_t at, repeat;
  const json_t *values; /* NULL: one, as it stands */
} placing;

static hd_status read_placing(layout *l, const json_t *t, placing *p) {
  wl_reader *r = l->r;
  const json_t *at = json_object_get(t, "at"), *repeat = json_object_get(t, "repeat");
  hd_status st = HD_OK;
  p->repeat = 1;
  p->has_at = at != NULL;
  p->values = json_object_get(t, "values");
  if (at) st = wl_get_integer(r, t, "at", at, "at", 0, HD_MAX_PARAMS, &p->at);
  if (st == HD_OK && repeat)
    st = wl_get_integer(r, t, "repeat", repeat, "repeat", 1, HD_MAX_PARAMS, &p->repeat);
  if (st == HD_OK && p->values && (!json_is_array(p->values) || !json_array_size(p->values)))
    st = wl_bad(r, t, "values", "'values' should be an array of numbers or expressions");
  return st;
}

static hd_status read_values(layout *l, const json_t *t, const placing *p) {
  hd_wl_arg a = {0};
  hd_status st = wl_only(l->r, t, VALUES_KEYS);
  if (st == HD_OK) st = wl_get_elem(l->r, t, "type", &a.type);
  for (int64_t i = 0; st == HD_OK && i < p->repeat; i++)
    for (size_t k = 0; st == HD_OK && k < json_array_size(p->values); k++) {
      st = read_value(l->r, t, "values", json_array_get(p->values, k), &a);
      if (st == HD_OK && !put_field(l, &a, p->has_at && !i && !k ? &p->at : NULL))
        st = wl_bad(l->r, t, "values", "the values overlap the field before, or reach beyond %d bytes",
                    HD_MAX_PARAMS);
    }
  return st;
}

static hd_status read_any(layout *l, const json_t *v, hd_wl_arg *a);

static hd_status read_field(layout *l, const json_t *v) {
  const bool table = json_is_object(v);
  placing p = {.repeat = 1};
  layout inner = {.r = l->r, .launch = l->launch, .depth = l->depth + 1};
  hd_wl_arg a = {0};
  hd_status st = table ? read_placing(l, v, &p) : HD_OK;
  if (st == HD_OK && p.values) return read_values(l, v, &p);
  if (st == HD_OK) st = read_any(&inner, v, &a);
  for (int64_t i = 0; st == HD_OK && i < p.repeat; i++)
    if (!put_field(l, &a, p.has_at && !i ? &p.at : NULL))
      st = wl_bad(l->r, table ? v : l->launch, table ? NULL : "args",
                  "a field overlaps the one before, or reaches beyond %d bytes", HD_MAX_PARAMS);
  return st;
}

/* { struct = ["a", { type = "s32", value = "n" }, ...] }, laid out as C does. Its alignment goes to a->bits.
 */
static hd_status read_struct(layout *l, const json_t *t, hd_wl_arg *a) {
  const json_t *list = json_object_get(t, "struct"), *align = json_object_get(t, "align"),
               *bytes = json_object_get(t, "bytes");
  int64_t x;
  hd_status st = wl_only(l->r, t, STRUCT_KEYS);
  if (st != HD_OK) return st;
  if (!json_is_array(list) || !json_array_size(list))
    return wl_bad(l->r, t, "struct", "'struct' should be an array of fields, at least one");
  if (l->depth > MAX_DEPTH)
    return wl_bad(l->r, t, "struct", "structs in structs, more than %d deep", MAX_DEPTH);
  l->align = 1;
  for (size_t k = 0; st == HD_OK && k < json_array_size(list); k++)
    st = read_field(l, json_array_get(list, k));
  if (st == HD_OK && align) {
    st = wl_get_integer(l->r, t, "align", align, "align", 1, 256, &x);
    if (st == HD_OK && x & (x - 1)) st = wl_bad(l->r, t, "align", "'align' should be a power of 2");
    if (st == HD_OK) l->align = (uint64_t)x;
  }
  l->end = round_up(l->end, l->align);
  if (st == HD_OK && bytes) {
    st = wl_get_integer(l->r, t, "bytes", bytes, "bytes", (int64_t)l->end, HD_MAX_PARAMS, &x);
    if (st == HD_OK) l->end = (uint64_t)x;
  }
  *a = (hd_wl_arg){.fields = l->fields, .n_fields = l->n, .bytes = l->end, .bits = l->align};
  return st;
}

/* ---- All of them ----------------------------------------------------------------------------------- */

static hd_status read_any(layout *l, const json_t *v, hd_wl_arg *a) {
  wl_reader *r = l->r;
  if (json_is_string(v)) return read_name(r, l->launch, json_string_value(v), a);
  if (!json_is_object(v))
    return wl_bad(
        r, l->launch, "args",
        "an argument is a buffer's or an image's name, { type = \"s32\", value = \"n\" }, { struct = "
        "[...] } or { tensormap = \"a\", ... }");
  if (json_object_get(v, "tensormap")) return wl_read_tensor(r, v, a);
  if (json_object_get(v, "struct")) return read_struct(l, v, a);
  if (json_object_get(v, "buffer")) return read_pointer(r, v, a);
  return read_scalar(r, v, a);
}

hd_status wl_read_arg(wl_reader *r, const json_t *launch, const json_t *v, hd_wl_arg *a) {
  static const char *const only[] = {FIELD_KEYS};
  for (size_t k = 0; k < sizeof only / sizeof *only; k++)
    if (json_object_get(v, only[k]))
      return wl_bad(r, v, only[k], "'%s' is for the fields of structs", only[k]);
  return read_any(&(layout){.r = r, .launch = launch}, v, a);
}
