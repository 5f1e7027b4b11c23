#include "heddle/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct hd_arena_block {
  hd_arena_block *prev;
  size_t size; /* payload bytes */
  _Alignas(64) char data[];
};

enum { FIRST_BLOCK = 64 << 10, LARGEST_BLOCK = 64 << 20 };

void hd_arena_init(hd_arena *a) { memset(a, 0, sizeof *a); }

void hd_arena_free(hd_arena *a) {
  for (hd_arena_block *b = a->head, *prev; b; b = prev) {
    prev = b->prev;
    free(b);
  }
  a->head = NULL;
  a->cur = a->end = NULL;
  a->used = 0;
}

void hd_arena_reset(hd_arena *a) {
  hd_arena_block *keep = NULL;
  for (hd_arena_block *b = a->head, *prev; b; b = prev) {
    prev = b->prev;
    if (!keep || b->size > keep->size) {
      free(keep);
      keep = b;
    } else {
      free(b);
    }
  }
  a->head = keep;
  a->used = 0;
  if (keep) {
    keep->prev = NULL;
    a->cur = keep->data;
    a->end = keep->data + keep->size;
  } else {
    a->cur = a->end = NULL;
  }
}

static void *out_of_memory(hd_arena *a) {
  if (a->escape) longjmp(*a->escape, 1);
  return NULL;
}

void *hd_arena_alloc_slow(hd_arena *a, size_t size, size_t align) {
  if (a->limit && (a->used > a->limit || size > a->limit - a->used)) return out_of_memory(a);
  uintptr_t p = ((uintptr_t)a->cur + (align - 1)) & ~(uintptr_t)(align - 1);
  if (!a->cur || p > (uintptr_t)a->end || size > (uintptr_t)a->end - p) {
    size_t want = a->head ? a->head->size * 2 : FIRST_BLOCK;
    if (want > LARGEST_BLOCK) want = LARGEST_BLOCK;
    if (want < size) want = size;
    size_t bytes;
    if (!hd_add_size(want, sizeof(hd_arena_block), &bytes)) return out_of_memory(a);
    /* aligned_alloc wants a multiple of the alignment. */
    if (!hd_add_size(bytes, 63, &bytes)) return out_of_memory(a);
    hd_arena_block *b = aligned_alloc(64, bytes & ~(size_t)63);
    if (!b) return out_of_memory(a);
    b->prev = a->head;
    b->size = want;
    a->head = b;
    a->cur = b->data;
    a->end = b->data + want;
    p = (uintptr_t)a->cur;
  }
  a->cur = (char *)(p + size);
  a->used += size;
  return (void *)p;
}

void *hd_arena_zalloc(hd_arena *a, size_t n, size_t size) {
  size_t bytes;
  if (!hd_mul_size(n, size, &bytes)) return out_of_memory(a);
  void *p = hd_arena_alloc(a, bytes, 16);
  if (p) memset(p, 0, bytes);
  return p;
}

char *hd_arena_strndup(hd_arena *a, const char *s, size_t n) {
  size_t bytes;
  if (!hd_add_size(n, 1, &bytes)) return out_of_memory(a);
  char *p = hd_arena_alloc(a, bytes, 1);
  if (p) {
    memcpy(p, s, n);
    p[n] = 0;
  }
  return p;
}

char *hd_arena_printf(hd_arena *a, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(NULL, 0, fmt, ap);
  va_end(ap);
  if (n < 0) return out_of_memory(a);
  char *p = hd_arena_alloc(a, (size_t)n + 1, 1);
  if (p) {
    va_start(ap, fmt);
    vsnprintf(p, (size_t)n + 1, fmt, ap);
    va_end(ap);
  }
  return p;
}
