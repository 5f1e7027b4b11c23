/* heddle_reference.h: access to buffers and sizes for a workload's reference.c.
 *
 *   #include <heddle_reference.h>
 *   void heddle_reference(const heddle_args *args) {
 *     const float *a = heddle_f32(args, "a");
 *     float *c = heddle_f32(args, "c");
 *     int64_t n = heddle_size_of(args, "n");
 *     ...
 *   }
 *
 * Buffers and sizes are those of workload.toml, asked for by name. A name that is not there, or a type that
 * is not the buffer's, ends the reference with a message: these calls then do not return. Inputs are filled.
 * Write every element that the kernel should have written.
 */
#ifndef HEDDLE_REFERENCE_H
#define HEDDLE_REFERENCE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct heddle_buffer {
  const char *name, *type; /* "f32" */
  uint64_t count;          /* elements */
  void *data;
} heddle_buffer;

typedef struct heddle_size {
  const char *name;
  int64_t value;
} heddle_size;

typedef struct heddle_args heddle_args;
struct heddle_args {
  const heddle_buffer *buffers; /* in the file's order */
  const heddle_size *sizes;     /* sorted by name */
  size_t n_buffers, n_sizes;
  void (*fail)(const heddle_args *args, const char *message); /* does not return */
  void *host;                                                 /* heddle's own */
};

void heddle_reference(const heddle_args *args);

static inline void heddle_fail(const heddle_args *args, const char *what, const char *name) {
  char message[200];
  snprintf(message, sizeof message, "asks for %s '%.60s', which workload.toml does not have", what, name);
  args->fail(args, message);
}

/* A size parameter's value. */
static inline int64_t heddle_size_of(const heddle_args *args, const char *name) {
  for (size_t i = 0; i < args->n_sizes; i++)
    if (strcmp(args->sizes[i].name, name) == 0) return args->sizes[i].value;
  heddle_fail(args, "size", name);
  return 0;
}

static inline const heddle_buffer *heddle_find(const heddle_args *args, const char *name) {
  for (size_t i = 0; i < args->n_buffers; i++)
    if (strcmp(args->buffers[i].name, name) == 0) return &args->buffers[i];
  heddle_fail(args, "buffer", name);
  return NULL;
}

/* A buffer's number of elements. */
static inline uint64_t heddle_count_of(const heddle_args *args, const char *name) {
  return heddle_find(args, name)->count;
}

static inline void *heddle_typed(const heddle_args *args, const char *name, const char *type) {
  const heddle_buffer *b = heddle_find(args, name);
  char what[80];
  snprintf(what, sizeof what, "a %s buffer", type);
  if (strcmp(b->type, type) != 0) heddle_fail(args, what, name);
  return b->data;
}

/* heddle_f32(args, "a"): buffer a's elements; it must be of type f32. f16 and bf16 are bits. */
#define HEDDLE_TYPED(type, c_type)                                                                           \
  static inline c_type *heddle_##type(const heddle_args *args, const char *name) {                           \
    return (c_type *)heddle_typed(args, name, #type);                                                        \
  }
HEDDLE_TYPED(u8, uint8_t)
HEDDLE_TYPED(s8, int8_t)
HEDDLE_TYPED(u16, uint16_t)
HEDDLE_TYPED(s16, int16_t)
HEDDLE_TYPED(u32, uint32_t)
HEDDLE_TYPED(s32, int32_t)
HEDDLE_TYPED(u64, uint64_t)
HEDDLE_TYPED(s64, int64_t)
HEDDLE_TYPED(f16, uint16_t)
HEDDLE_TYPED(bf16, uint16_t)
HEDDLE_TYPED(f32, float)
HEDDLE_TYPED(f64, double)
#undef HEDDLE_TYPED

#endif
