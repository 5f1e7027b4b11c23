/* Reads PTX modules from files: finds the kind of a file, and walks over its contents. The formats themselves
 * are in archive.c, elf.c and fatbin.c. */
#include "heddle/container.h"
#include "ptx/binary.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How far into a file to look for bytes that no text has. */
#define TEXT_PROBE 4096

struct hd_container {
  hd_container_kind kind;
  ptx_source source;
  hd_file file; /* when opened from a path */
  char *name;
  hd_buf member_name; /* "FILE(MEMBER)", while inside one */
  hd_buf label;

  /* The walk: member by member, span by span, entry by entry. */
  ptx_archive archive;
  ptx_spans spans; /* of the image at hand */
  size_t next_span;
  uint64_t base; /* where the image at hand begins */
  ptx_fatbin fatbin;
  uint64_t assembled; /* entries that are no PTX, of the spans behind */
  uint32_t index;
  bool text_done; /* HD_CONTAINER_PTX: it was handed out */

  ptx_unpacker unpacker;
};

/* ---- Kinds of files ----------------------------------------------------- */

/* The format of a file or of an archive member, from its first bytes. */
typedef enum content {
  CONTENT_OTHER = 0,
  CONTENT_ELF,
  CONTENT_FATBIN,
  CONTENT_ARCHIVE,
  CONTENT_THIN_ARCHIVE,
} content;

static const struct {
  const char *magic;
  size_t len;
  content content;
} magics[] = {
    {ELFMAG, SELFMAG, CONTENT_ELF},
    {"\x50\xED\x55\xBA", sizeof(uint32_t), CONTENT_FATBIN}, /* PTX_FATBIN_MAGIC */
    {PTX_ARCHIVE_MAGIC, sizeof PTX_ARCHIVE_MAGIC - 1, CONTENT_ARCHIVE},
    {PTX_ARCHIVE_THIN_MAGIC, sizeof PTX_ARCHIVE_THIN_MAGIC - 1, CONTENT_THIN_ARCHIVE},
};

static content classify(const uint8_t *data, uint64_t len) {
  for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
    if (len >= magics[i].len && memcmp(data, magics[i].magic, magics[i].len) == 0) return magics[i].content;
  return CONTENT_OTHER;
}

/* Text has no control bytes but white space; bytes above 0x7f may be UTF-8 in
 * a comment. NULs behind the text are a buffer's padding, written out with it. */
static bool looks_like_text(const uint8_t *data, uint64_t len) {
  size_t n = ptx_min(len, TEXT_PROBE);
  while (n && data[n - 1] == 0) n--;
  for (size_t i = 0; i < n; i++) {
    bool space = data[i] >= '\t' && data[i] <= '\r';
    if ((data[i] < ' ' && !space) || data[i] == 0x7f) return false;
  }
  return n > 0;
}

/* A cubin: an ELF image for the GPU itself. */
static bool is_cubin(const uint8_t *data, uint64_t len) {
  Elf64_Ehdr h;
  if (len < sizeof h) return false;
  memcpy(&h, data, sizeof h);
  return h.e_machine == EM_CUDA;
}

/* ---- Opening and closing ------------------------------------------------ */

/* Makes the spans of the image at [begin, end), so that the walk goes into it. */
static hd_status enter_image(hd_container *c, content what, uint64_t begin, uint64_t end, hd_diag *d) {
  c->spans.n = c->next_span = 0;
  c->base = begin;
  if (what == CONTENT_ELF) {
    c->assembled += is_cubin(c->source.data + begin, end - begin);
    return ptx_elf_spans(&c->source, begin, end, &c->spans, d);
  }
  if (!hd_vec_push(&c->spans, ((ptx_span){begin, end, true})))
    return ptx_source_fail(&c->source, d, HD_ERR_NOMEM, "out of memory");
  return HD_OK;
}

static hd_status identify(hd_container *c, hd_diag *d) {
  ptx_source *s = &c->source;
  if (s->len == 0) return ptx_source_fail(s, d, HD_ERR_INPUT, "the file is empty");
  content what = classify(s->data, s->len);
  switch (what) {
  case CONTENT_ELF: c->kind = HD_CONTAINER_ELF; return enter_image(c, what, 0, s->len, d);
  case CONTENT_FATBIN: c->kind = HD_CONTAINER_FATBIN; return enter_image(c, what, 0, s->len, d);
  case CONTENT_ARCHIVE:
    c->kind = HD_CONTAINER_ARCHIVE;
    ptx_archive_begin(&c->archive);
    return HD_OK;
  case CONTENT_THIN_ARCHIVE:
    return ptx_source_fail(s, d, HD_ERR_UNSUPPORTED, "a thin archive: its members are files of their own");
  case CONTENT_OTHER: break;
  }
  if (!looks_like_text(s->data, s->len))
    return ptx_source_fail(s, d, HD_ERR_INPUT, "not PTX, a fatbin, or an ELF file");
  c->kind = HD_CONTAINER_PTX;
  return HD_OK;
}

/* Over c->source, whose data and len are set. */
static hd_status begin(hd_container *c, const char *name, hd_container **out, hd_diag *d) {
  c->name = strdup(name);
  c->source.name = c->name;
  hd_status rc = c->name ? identify(c, d) : hd_nomem(d);
  if (rc)
    hd_container_close(c);
  else
    *out = c;
  return rc;
}

/* Its text would be taken for PTX with a mistake in it. */
static bool is_cuda_c(const char *path) {
  const size_t n = strlen(path);
  return n > 3 && strcmp(path + n - 3, ".cu") == 0;
}

hd_status hd_container_open(const char *path, hd_container **out, hd_diag *d) {
  *out = NULL;
  if (is_cuda_c(path) && access(path, F_OK) == 0)
    return hd_fail(d, HD_ERR_USAGE,
                   "%s: is CUDA C, of which nvcc -ptx makes PTX; commands that launch its kernels (-k KERNEL "
                   "--grid ... --block ... --arg ...) have it compiled",
                   path);
  hd_container *c = calloc(1, sizeof *c);
  if (!c) return hd_nomem(d);
  hd_status rc = hd_file_open(path, &c->file, d);
  if (rc) {
    hd_container_close(c);
    return rc;
  }
  c->source = (ptx_source){
      .data = (const uint8_t *)c->file.data, .len = c->file.len, .mapped = c->file.map == c->file.data};
  return begin(c, path, out, d);
}

hd_status hd_container_open_memory(const void *data, size_t len, const char *name, hd_container **out,
                                   hd_diag *d) {
  *out = NULL;
  hd_container *c = calloc(1, sizeof *c);
  if (!c) return hd_nomem(d);
  c->source = (ptx_source){.data = data, .len = len};
  return begin(c, name ? name : "", out, d);
}

hd_container_kind hd_container_get_kind(const hd_container *c) { return c->kind; }

void hd_container_close(hd_container *c) {
  if (!c) return;
  ptx_unpacker_free(&c->unpacker);
  hd_vec_free(&c->spans);
  hd_buf_free(&c->member_name);
  hd_buf_free(&c->label);
  hd_file_close(&c->file);
  free(c->name);
  free(c);
}

hd_status hd_container_count(const char *path, uint64_t *n, hd_diag *d) {
  hd_container *c;
  hd_status st = hd_container_open(path, &c, d);
  if (st != HD_OK) return st;
  hd_ptx_text t;
  bool more = true;
  for (*n = 0; more;) {
    st = hd_container_next(c, &t, &more, NULL);
    *n += st == HD_OK && more;
  }
  hd_container_close(c);
  return HD_OK;
}

bool hd_container_sampled(uint64_t i, uint64_t n, uint64_t sample) {
  return sample == 0 || sample >= n || i * sample / n != (i + 1) * sample / n;
}

uint64_t hd_container_assembled(const hd_container *c) { return c->assembled + c->fatbin.others; }

hd_status hd_container_no_ptx(const char *path, uint64_t assembled, hd_diag *d) {
  if (!assembled) return hd_fail(d, HD_ERR_INPUT, "%s: holds no PTX", path);
  return hd_fail(d, HD_ERR_INPUT,
                 "%s: holds no PTX, only code that is assembled already: build it with PTX, as nvcc "
                 "-gencode arch=compute_80,code=[sm_80,compute_80] does",
                 path);
}

/* ---- The walk ----------------------------------------------------------- */

/* Goes into the next archive member that may hold PTX; *more is false when
 * there is none. */
static hd_status next_member(hd_container *c, bool *more, hd_diag *d) {
  ptx_source *s = &c->source;
  s->name = c->name;
  for (;;) {
    ptx_member m;
    hd_status rc = ptx_archive_next(s, &c->archive, &m, more, d);
    if (rc || !*more) return rc;
    ptx_source_release(s, m.begin);
    content what = classify(s->data + m.begin, m.end - m.begin);
    if (what == CONTENT_OTHER) continue;
    hd_buf_clear(&c->member_name);
    hd_buf_printf(&c->member_name, "%s(%.*s)", c->name, m.name_len, m.name);
    if (c->member_name.failed) return ptx_source_fail(s, d, HD_ERR_NOMEM, "out of memory");
    s->name = c->member_name.data;
    if (what == CONTENT_ARCHIVE || what == CONTENT_THIN_ARCHIVE)
      return ptx_source_fail(s, d, HD_ERR_UNSUPPORTED, "an archive inside an archive");
    return enter_image(c, what, m.begin, m.end, d);
  }
}

/* The next entry of a binary file: of PTX, or of machine code, too. */
static hd_status next_entry(hd_container *c, bool code, ptx_entry *e, bool *more, hd_diag *d) {
  c->fatbin.code = code;
  for (;;) {
    hd_status rc = ptx_fatbin_next(&c->source, &c->fatbin, e, more, d);
    if (rc || *more) return rc;
    if (c->next_span < c->spans.n) {
      c->assembled += c->fatbin.others;
      ptx_fatbin_begin(&c->fatbin, c->base, c->spans.data[c->next_span++]);
      c->fatbin.code = code;
      continue;
    }
    if (c->kind != HD_CONTAINER_ARCHIVE) return HD_OK;
    rc = next_member(c, more, d);
    if (rc || !*more) return rc;
  }
}

static hd_status set_label(hd_container *c, const char **label, hd_diag *d) {
  hd_buf_clear(&c->label);
  hd_buf_printf(&c->label, "%s#%u", c->name, c->index);
  *label = c->label.data;
  return c->label.failed ? hd_nomem(d) : HD_OK;
}

/* *t: the whole file, which is one text. */
static hd_status read_plain(hd_container *c, hd_ptx_text *t, hd_diag *d) {
  *t = (hd_ptx_text){.label = c->name};
  c->text_done = true;
  hd_status rc = ptx_unpack_plain(&c->unpacker, &c->source, 0, c->source.len, &t->len, d);
  t->data = c->unpacker.text;
  return rc;
}

/* *t: the entry, the index-th of the file. */
static hd_status read_entry(hd_container *c, const ptx_entry *e, uint32_t index, hd_ptx_text *t, hd_diag *d) {
  *t = (hd_ptx_text){.index = index, .offset = e->offset, .sm = e->target.sm, .target = e->target};
  c->index = index;
  hd_status rc = set_label(c, &t->label, d);
  if (rc == HD_OK) rc = ptx_unpack(&c->unpacker, &c->source, e, &t->len, &t->compression, d);
  t->data = c->unpacker.text;
  return rc;
}

hd_status hd_container_next(hd_container *c, hd_ptx_text *t, bool *more, hd_diag *d) {
  *more = false;
  *t = (hd_ptx_text){0};
  hd_status rc;
  if (c->kind == HD_CONTAINER_PTX) {
    if (c->text_done) return HD_OK;
    rc = read_plain(c, t, d);
  } else {
    ptx_entry e;
    bool found;
    rc = next_entry(c, false, &e, &found, d);
    if (rc || !found) return rc;
    rc = read_entry(c, &e, c->index, t, d);
    c->index++;
  }
  if (rc)
    *t = (hd_ptx_text){0};
  else
    *more = true;
  return rc;
}

hd_status hd_container_choose(hd_container *c, unsigned arch, unsigned isa, hd_chosen *out, hd_diag *d) {
  ptx_choice best = {.arch = arch, .isa = isa};
  uint32_t index = 0;
  hd_status st = HD_OK;
  *out = (hd_chosen){0};
  if (c->kind == HD_CONTAINER_PTX) {
    out->found = out->runs = true;
    return read_plain(c, &out->text, d);
  }
  /* Machine code first, since it decides which text is wanted. */
  HD_VEC(ptx_entry) texts = {0};
  for (bool more = true; st == HD_OK;) {
    ptx_entry e;
    st = next_entry(c, true, &e, &more, d);
    if (st != HD_OK || !more) break;
    if (e.code)
      ptx_choice_code(&best, e.target);
    else if (!hd_vec_push(&texts, e))
      st = hd_nomem(d);
  }
  for (size_t k = 0; k < texts.n; k++)
    if (ptx_choice_text(&best, texts.data[k].target, texts.data[k].isa)) index = (uint32_t)k;
  out->found = st == HD_OK && texts.n;
  out->has_code = best.has_code;
  out->runs = out->found && hd_target_runs(best.text, false, arch);
  if (out->found) st = read_entry(c, &texts.data[index], index, &out->text, d);
  c->index = (uint32_t)texts.n;
  hd_vec_free(&texts);
  return st;
}
