/* ptx/binary.h: the binary formats that carry PTX: fatbin, ELF and ar.
 *
 * These are the parts of the container reader (container.c). An ar archive holds
 * members, an ELF image holds sections, a section holds fatbin regions, a
 * region holds entries, and an entry's payload unpacks to one PTX text:
 *
 *   archive.c   ptx_archive_next    archive  -> members
 *   elf.c       ptx_elf_spans       image    -> spans where regions may lie
 *   fatbin.c    ptx_fatbin_next     span     -> PTX entries
 *   unpack.c    ptx_unpack          entry    -> text
 *
 * All these formats are little-endian here, as is every host of CUDA. All
 * positions are byte offsets into one ptx_source. Every byte read is
 * untrusted: each reader checks what it reads against the limits it was given
 * and moves only forward, so that any input ends in time linear in its size.
 */
#ifndef PTX_BINARY_H
#define PTX_BINARY_H

#include "heddle/container.h"

/* ---- Bytes -------------------------------------------------------------- */

typedef struct ptx_source {
  const uint8_t *data;
  uint64_t len;
  const char *name;  /* for diagnostics */
  bool mapped;       /* data is a file mapping: dropped pages come back when touched */
  uint64_t released; /* pages below were given back */
} ptx_source;

/* Tells the system that the bytes below `upto` were consumed, so that a large
 * file does not stay in memory as it is read through. Does nothing for bytes
 * that are not a file mapping. */
void ptx_source_release(ptx_source *s, uint64_t upto);

/* A failure in this source; the message names the offset where that helps. */
#define ptx_source_fail(s, d, status, ...) hd_fail_at((d), (status), (s)->name, NULL, 0, 0, __VA_ARGS__)

static inline uint64_t ptx_min(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* ---- ar archives -------------------------------------------------------- */

#define PTX_ARCHIVE_MAGIC "!<arch>\n"
#define PTX_ARCHIVE_THIN_MAGIC "!<thin>\n"

typedef struct ptx_archive {
  uint64_t pos;                    /* of the next member's header */
  uint64_t names_begin, names_end; /* the GNU table of long names, "//" */
} ptx_archive;

typedef struct ptx_member {
  const char *name; /* in the source, not terminated */
  int name_len;
  uint64_t begin, end; /* its contents */
} ptx_member;

/* The archive fills the whole source. */
void ptx_archive_begin(ptx_archive *a);

/* The next member, symbol and name tables included (they differ from objects by their contents). After an
 * error there are no more: a member header that makes no sense does not say where the next one is. */
hd_status ptx_archive_next(const ptx_source *s, ptx_archive *a, ptx_member *m, bool *more, hd_diag *d);

/* ---- ELF ---------------------------------------------------------------- */

/* Bytes [begin, end) of a source where fatbin regions may lie. */
typedef struct ptx_span {
  uint64_t begin, end;
  bool fatbins; /* a fatbin section: anything in it but regions and padding is an error */
} ptx_span;

typedef HD_VEC(ptx_span) ptx_spans;

/* Adds the spans of the ELF image at [begin, end), in file order and disjoint,
 * to *spans. A cubin (an ELF image for the GPU itself) has none. */
hd_status ptx_elf_spans(const ptx_source *s, uint64_t begin, uint64_t end, ptx_spans *spans, hd_diag *d);

/* ---- Fatbins ------------------------------------------------------------ */

#define PTX_FATBIN_MAGIC 0xBA55ED50u

/* An entry of PTX or machine code, as its header describes it. */
typedef struct ptx_entry {
  uint64_t offset;            /* of its header */
  uint64_t payload;           /* offset of its payload */
  uint64_t payload_size;      /* padding included; lies inside the source */
  uint32_t compressed_size;   /* without the padding; 0 when not compressed */
  uint64_t decompressed_size; /* 0 when not compressed */
  uint64_t flags;
  hd_target target;
  unsigned isa;
  bool code; /* machine code */
} ptx_entry;

/* Walks the regions of one span. */
typedef struct ptx_fatbin {
  uint64_t base;       /* regions start at multiples of 8 bytes from here */
  uint64_t pos, end;   /* the rest of the span */
  uint64_t region_end; /* while in_region */
  bool in_region;
  bool strict;     /* from ptx_span.fatbins */
  bool cut;        /* the region's header says that it goes on beyond the span */
  bool lost;       /* an error was reported; searching for the next region */
  bool code;       /* entries of machine code are handed out, too */
  uint64_t others; /* entries that are no PTX, so far */
} ptx_fatbin;

/* `base` is where the file image that holds the span begins: 0, or the start
 * of an archive member. */
void ptx_fatbin_begin(ptx_fatbin *f, uint64_t base, ptx_span span);

/* The next PTX entry of the span, or one of machine code where `code` is set; others are skipped. After an
 * error the next call goes on behind the entry when its extent is known, else
 * at the next region. */
hd_status ptx_fatbin_next(ptx_source *s, ptx_fatbin *f, ptx_entry *e, bool *more, hd_diag *d);

/* ---- Choices (choose.c) --------------------------------------------------- */

/* One of several images of a module, for sm_`arch` and a driver that reads PTX up to `isa`. */
typedef struct ptx_choice {
  unsigned arch, isa;
  bool has_code, has_text;
  hd_target code, text; /* the best so far */
  unsigned text_isa;
} ptx_choice;

void ptx_choice_code(ptx_choice *c, hd_target t);
/* After all machine code. True: it is the best so far. */
bool ptx_choice_text(ptx_choice *c, hd_target t, unsigned isa);

/* ---- Texts -------------------------------------------------------------- */

/* The most that one module may be, and the most that it may be of its
 * compressed size. */
#define PTX_TEXT_MAX ((uint64_t)1 << 30)
#define PTX_RATIO_MAX 4096

/* One text at a time, in a buffer that grows to the largest. */
typedef struct ptx_unpacker {
  char *text;
  size_t cap;
  struct ZSTD_DCtx_s *zstd; /* made for the first zstd entry */
} ptx_unpacker;

void ptx_unpacker_free(ptx_unpacker *u);

/* The entry's text: *len bytes at u->text, followed by a NUL. NULs at the end
 * of the payload are padding, not text. */
hd_status ptx_unpack(ptx_unpacker *u, ptx_source *s, const ptx_entry *e, size_t *len, hd_compression *how,
                     hd_diag *d);

/* The same for bytes [begin, end) of the source, which are the text itself. */
hd_status ptx_unpack_plain(ptx_unpacker *u, ptx_source *s, uint64_t begin, uint64_t end, size_t *len,
                           hd_diag *d);

#endif
