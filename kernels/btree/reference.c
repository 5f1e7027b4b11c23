#include <heddle_reference.h>

enum { ORDER = 256, FILLED = ORDER / 2 };

typedef struct node {
  int32_t location, indices[ORDER + 1], keys[ORDER + 1], is_leaf, n_keys;
} node;

/* Nodes of the level `above` levels over the leaves: each holds FILLED nodes or records of the level
 * below. */
static int64_t level_nodes(int64_t records, int64_t above) {
  int64_t n = (records + FILLED - 1) / FILLED;
  for (; above > 0; above--) n = (n + FILLED - 1) / FILLED;
  return n;
}

/* A tree over the keys 0 .. records-1, level after level from the root. */
void heddle_generate(const heddle_args *args) {
  node *nodes = (node *)heddle_s32(args, "nodes");
  int64_t records = heddle_size_of(args, "records"), height = heddle_size_of(args, "height");
  if (level_nodes(records, height) != 1) args->fail(args, "'height' does not fit 'records'");
  int64_t first = 0;
  for (int64_t above = height; above >= 0; above--) {
    int64_t n = level_nodes(records, above), below = above ? level_nodes(records, above - 1) : records;
    int64_t width = 1; /* keys below one entry */
    for (int64_t i = 0; i < above; i++) width *= FILLED;
    for (int64_t v = 0; v < n; v++) {
      node *o = &nodes[first + v];
      o->location = (int32_t)(first + v);
      o->is_leaf = above == 0;
      for (int64_t i = 0; i <= ORDER; i++) {
        int64_t entry = v * FILLED + i;
        int there = i < FILLED && entry < below;
        o->n_keys += there;
        o->indices[i] = there ? (int32_t)(above ? first + n + entry : entry) : 0;
        o->keys[i] = there ? (above && i == 0 ? INT32_MIN : (int32_t)(entry * width)) : INT32_MAX;
      }
    }
    first += n;
  }
}

/* Record k has the key k. */
void heddle_reference(const heddle_args *args) {
  const int32_t *records = heddle_s32(args, "records"), *keys = heddle_s32(args, "keys");
  int32_t *answers = heddle_s32(args, "answers");
  int64_t n = heddle_size_of(args, "queries"), known = heddle_size_of(args, "records");
  for (int64_t i = 0; i < n; i++) answers[i] = keys[i] < known ? records[keys[i]] : -1;
}
