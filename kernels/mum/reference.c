#include <heddle_inputs.h>
#include <heddle_reference.h>
#include <stdlib.h>

enum { LETTERS = 4, END = 4 };

/* ---- The suffix tree, by Ukkonen's algorithm -------------------------------------------- */

typedef struct node {
  int32_t child[LETTERS], start, end, link, depth;
} node;

/* The suffix that is only the end mark gets no leaf, nor does it where it branches off: no query can go
 * there. */
typedef struct tree {
  node *nodes;
  const uint8_t *text;
  int64_t n_text, n_nodes, room;
} tree;

static int32_t new_node(const heddle_args *args, tree *t, int64_t start, int64_t end) {
  if (t->n_nodes == t->room) args->fail(args, "the suffix tree has no room");
  node *o = &t->nodes[t->n_nodes];
  *o = (node){{-1, -1, -1, -1}, (int32_t)start, (int32_t)end, 0, 0};
  return (int32_t)t->n_nodes++;
}

/* Letters on the edge to a node when the text is known up to `known`. */
static int64_t edge_length(const tree *t, int32_t v, int64_t known) {
  int64_t end = t->nodes[v].end < known ? t->nodes[v].end : known;
  return end - t->nodes[v].start;
}

static void build(const heddle_args *args, tree *t) {
  int32_t active = new_node(args, t, 0, 0); /* the root */
  int64_t from = 0, len = 0,
          pending = 0; /* the active edge's first letter and how far along it; open suffixes */
  for (int64_t i = 0; i < t->n_text; i++) {
    int32_t unlinked = 0; /* the node made last, which still needs its link */
    int letter = t->text[i];
    pending++;
    while (pending > 0) {
      if (len == 0) from = i;
      int first = t->text[from];
      int32_t next = first == END ? -1 : t->nodes[active].child[first], branch = active;
      if (next >= 0) {
        int64_t edge = edge_length(t, next, i + 1);
        if (len >= edge) { /* walk down */
          from += edge;
          len -= edge;
          active = next;
          continue;
        }
        int64_t middle = t->nodes[next].start + len;
        if (t->text[middle] == letter) { /* there already, and so are all shorter suffixes */
          if (unlinked) t->nodes[unlinked].link = active;
          len++;
          break;
        }
        branch = new_node(args, t, t->nodes[next].start, middle);
        t->nodes[active].child[first] = branch;
        t->nodes[next].start = (int32_t)middle;
        t->nodes[branch].child[t->text[middle]] = next; /* no END: that is the newest letter alone */
      }
      if (letter != END) {
        int32_t leaf = new_node(args, t, i, t->n_text);
        t->nodes[branch].child[letter] = leaf;
      }
      if (unlinked) t->nodes[unlinked].link = branch;
      unlinked = branch == active ? 0 : branch;
      pending--;
      if (active == 0 && len > 0) {
        len--;
        from = i - pending + 1;
      } else if (active != 0) {
        active = t->nodes[active].link;
      }
    }
  }
}

/* Depths need parents before children, which the numbers do not promise: a stack does. */
static void number_depths(const heddle_args *args, tree *t) {
  int32_t *stack = malloc((size_t)t->n_nodes * sizeof *stack);
  int64_t height = 0;
  if (!stack) args->fail(args, "out of memory");
  stack[height++] = 0;
  while (height > 0) {
    const node *v = &t->nodes[stack[--height]];
    for (int c = 0; c < LETTERS; c++)
      if (v->child[c] >= 0) {
        node *below = &t->nodes[v->child[c]];
        below->depth = v->depth + below->end - below->start;
        stack[height++] = v->child[c];
      }
  }
  free(stack);
}

void heddle_generate(const heddle_args *args) {
  uint8_t *text = heddle_u8(args, "text"), *queries = heddle_u8(args, "queries");
  int64_t n = heddle_size_of(args, "text"), n_queries = heddle_size_of(args, "queries"),
          length = heddle_size_of(args, "query_length");
  static const uint8_t CODE[256] = {['C'] = 1, ['G'] = 2, ['T'] = 3};
  heddle_dna(1, n, text);
  for (int64_t i = 0; i < n; i++) text[i] = CODE[text[i]];
  text[n] = END;
  /* As a sequencer reads them: pieces of the text with one letter in 50 wrong. */
  for (int64_t q = 0; q < n_queries; q++) {
    int64_t from = heddle_below(2, (uint64_t)q, n - length + 1);
    for (int64_t k = 0; k < length; k++) {
      uint64_t r = heddle_random(3, (uint64_t)(q * length + k));
      queries[q * length + k] = r % 50 ? text[from + k] : (uint8_t)(r >> 62);
    }
  }
  tree t = {(node *)heddle_s32(args, "nodes"), text, n + 1, 0, 2 * n};
  build(args, &t);
  number_depths(args, &t);
}

/* ---- The same by a suffix automaton of the reversed text ----------------------------------- */

typedef struct state {
  int32_t next[LETTERS], link, length;
} state;

static int32_t new_state(state *states, int32_t *n, int32_t length) {
  states[*n] = (state){{-1, -1, -1, -1}, -1, length};
  return (*n)++;
}

static int32_t extend(state *states, int32_t *n, int32_t last, int letter) {
  int32_t added = new_state(states, n, states[last].length + 1), p = last;
  for (; p >= 0 && states[p].next[letter] < 0; p = states[p].link) states[p].next[letter] = added;
  states[added].link = 0;
  if (p < 0) return added;
  int32_t q = states[p].next[letter];
  if (states[p].length + 1 != states[q].length) {
    int32_t copy = new_state(states, n, states[p].length + 1);
    memcpy(states[copy].next, states[q].next, sizeof states[q].next);
    states[copy].link = states[q].link;
    for (; p >= 0 && states[p].next[letter] == q; p = states[p].link) states[p].next[letter] = copy;
    states[q].link = copy;
    q = copy;
  }
  states[added].link = q;
  return added;
}

/* Read backwards, the longest match that ends at a letter is the longest one that begins there. */
void heddle_reference(const heddle_args *args) {
  const uint8_t *text = heddle_u8(args, "text"), *queries = heddle_u8(args, "queries");
  int16_t *length = heddle_s16(args, "length");
  int64_t n = heddle_size_of(args, "text"), n_queries = heddle_size_of(args, "queries"),
          query_length = heddle_size_of(args, "query_length");
  state *states = malloc((size_t)(2 * n + 1) * sizeof *states);
  if (!states) args->fail(args, "out of memory");
  int32_t n_states = 0, last = new_state(states, &n_states, 0);
  for (int64_t i = n - 1; i >= 0; i--) last = extend(states, &n_states, last, text[i]);
  for (int64_t q = 0; q < n_queries; q++) {
    int32_t at = 0, matched = 0;
    for (int64_t k = query_length - 1; k >= 0; k--) {
      int letter = queries[q * query_length + k];
      while (at > 0 && states[at].next[letter] < 0) {
        at = states[at].link;
        matched = states[at].length;
      }
      if (states[at].next[letter] >= 0) {
        at = states[at].next[letter];
        matched++;
      }
      length[q * query_length + k] = (int16_t)matched;
    }
  }
  free(states);
}
