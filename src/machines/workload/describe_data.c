/* Words for data other than plain arguments: structs by value, textures and surfaces, variables of the
 * module. */
#include <string.h>

#include "workload/describe.h"

enum { MAX_DEPTH = 16 };

/* ---- Lists in braces -------------------------------------------------------------- */

static bool begins(const char *text, const char *word) { return strncmp(text, word, strlen(word)) == 0; }

/* Bytes up to the comma that ends the item at p; brackets and quotes within it are its own. */
static size_t item_length(const char *p) {
  size_t n = 0;
  bool quoted = false;
  for (int depth = 0; p[n] && (quoted || depth || p[n] != ','); n++) {
    const char c = p[n];
    if (c == '"') quoted = !quoted;
    if (!quoted) depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
  }
  return n;
}

/* Goes through "{a, b, ...}" behind a word. */
typedef struct items {
  const char *p; /* the next item; NULL: there are no more */
  bool failed;   /* an item is empty, or there is no brace at the end */
} items;

static items items_of(describing *s, const char *text) {
  const char *open = strchr(text, '{') + 1;
  const size_t n = strlen(open);
  if (!n || open[n - 1] != '}') return (items){.failed = true};
  return (items){.p = hd_arena_strndup(s->arena, open, n - 1)};
}

/* The next item, without blanks around it, in the arena; NULL: that was all. */
static const char *next_item(describing *s, items *i) {
  if (!i->p) return NULL;
  while (*i->p == ' ') i->p++;
  const char *from = i->p;
  size_t n = item_length(from);
  i->p = from[n] ? from + n + 1 : NULL;
  while (n && from[n - 1] == ' ') n--;
  i->failed |= !n;
  return n ? hd_arena_strndup(s->arena, from, n) : NULL;
}

/* ---- Structs --------------------------------------------------------------------------- */

bool describe_is_struct(const char *text) { return begins(text, "struct{"); }

hd_status describe_put_struct(describing *s, const char *name, const char *text, hd_diag *d) {
  items i = items_of(s, text);
  hd_status st = HD_OK;
  size_t n = 0;
  if (s->depth == MAX_DEPTH) return describe_bad_word(s, d, "has structs in structs, too deep");
  s->depth++;
  hd_buf_puts(&s->args.text, "  { struct = [\n");
  for (const char *item; st == HD_OK && (item = next_item(s, &i));)
    st = describe_arg(s, hd_arena_printf(s->arena, "%s_%zu", name, ++n), item, d);
  hd_buf_puts(&s->args.text, "  ] },\n");
  s->depth--;
  return st == HD_OK && i.failed ? describe_bad_word(s, d, "is not struct{FIELD, ...}") : st;
}

/* ---- Textures and surfaces ----------------------------------------------------------------- */

bool describe_is_image(const char *text) { return begins(text, "texture{") || begins(text, "surface{"); }

/* A value of TOML: sizes of several dimensions are written 4x8. */
static void put_value(const char *key, const char *value, hd_buf *out) {
  const bool plain = strcmp(value, "true") == 0 || strcmp(value, "false") == 0 || *value == '[';
  if (strcmp(key, "shape") != 0) {
    double number;
    if (plain || wl_decimal(value, strlen(value), &number))
      hd_buf_puts(out, value);
    else
      hd_buf_quote(out, value, strlen(value));
    return;
  }
  for (const char *p = value; *p;) {
    const size_t n = strcspn(p, "x");
    hd_buf_puts(out, p == value ? "[" : ", ");
    hd_buf_quote(out, p, n);
    p += n + (p[n] == 'x');
  }
  hd_buf_putc(out, ']');
}

static hd_status put_key(describing *s, const char *item, hd_diag *d) {
  hd_buf *out = &s->buffers.text;
  const size_t n = strcspn(item, "=");
  for (size_t k = 0; k < n; k++)
    if (!wl_is_identifier(item + k, 1) && item[k] != '-')
      return describe_bad_word(s, d, "has a key that is none");
  if (!n || !item[n] || !item[n + 1])
    return describe_bad_word(s, d, "is not texture{MEMORY, KEY=VALUE, ...}");
  const char *key = hd_arena_strndup(s->arena, item, n);
  if (!key) return hd_nomem(d);
  hd_buf_printf(out, "%s = ", key);
  put_value(key, item + n + 1, out);
  hd_buf_putc(out, '\n');
  return HD_OK;
}

/* Its memory: TYPE[COUNT]=FILL, or a buffer's name. */
static hd_status put_memory(describing *s, const char *image, const char *item, const char **buffer,
                            hd_diag *d) {
  *buffer = item;
  if (!describe_is_buffer(item)) return HD_OK;
  *buffer = hd_arena_printf(s->arena, "%s_memory", image);
  return *buffer ? describe_memory(s, "buffer", *buffer, item, d) : hd_nomem(d);
}

hd_status describe_put_image(describing *s, const char *name, const char *text, hd_diag *d) {
  hd_buf *out = &s->buffers.text;
  items i = items_of(s, text);
  const char *item = next_item(s, &i), *buffer;
  if (!item) return describe_bad_word(s, d, "is not texture{MEMORY, KEY=VALUE, ...}");
  hd_status st = put_memory(s, name, item, &buffer, d);
  if (st != HD_OK) return st;
  hd_buf_printf(out, "\n[[%s]]\nname = \"%s\"\nbuffer = ", begins(text, "texture") ? "texture" : "surface",
                name);
  hd_buf_quote(out, buffer, strlen(buffer));
  hd_buf_putc(out, '\n');
  while (st == HD_OK && (item = next_item(s, &i))) st = put_key(s, item, d);
  if (st == HD_OK && i.failed) st = describe_bad_word(s, d, "is not texture{MEMORY, KEY=VALUE, ...}");
  return st == HD_OK ? describe_name(s, name, d) : st;
}

/* ---- Variables ---------------------------------------------------------------------------------- */

/* NAME=TYPE[COUNT]=FILL, or NAME=TYPE:VALUE for a single one. */
hd_status describe_set(describing *s, const char *text, hd_diag *d) {
  const size_t n = strcspn(text, "=");
  const char *rest = text + n + 1, *name = hd_arena_strndup(s->arena, text, n);
  if (!text[n] || !n) return describe_bad_word(s, d, "is not NAME=TYPE[COUNT]=FILL or NAME=TYPE:VALUE");
  if (!name) return hd_nomem(d);
  if (describe_is_buffer(rest)) return describe_memory(s, "variable", name, rest, d);
  const char *colon = strchr(rest, ':');
  if (!colon) return describe_bad_word(s, d, "is not NAME=TYPE[COUNT]=FILL or NAME=TYPE:VALUE");
  const char *one = hd_arena_printf(s->arena, "%.*s[1]=value(%s)", (int)(colon - rest), rest, colon + 1);
  return one ? describe_memory(s, "variable", name, one, d) : hd_nomem(d);
}
