/* Memory that runs out in base/. */
#include "nomem.h"

#include <unistd.h>

#include "heddle/turns.h"
#include "heddle/work.h"

static hd_status arena(void *ctx, hd_diag *d) {
  hd_arena a;
  jmp_buf escape;
  hd_arena_init(&a);
  a.escape = &escape;
  if (setjmp(escape)) {
    hd_arena_free(&a);
    return hd_nomem(d);
  }
  for (unsigned i = 1; i <= 20; i++) memset(hd_arena_alloc(&a, 20000 * i, 8), 1, 20000 * i);
  hd_arena_printf(&a, "%*d", 40000, 1);
  hd_arena_free(&a);
  return HD_OK;
}

static hd_status buffer(void *ctx, hd_diag *d) {
  hd_buf b = {0};
  for (unsigned i = 0; i < 1000; i++) hd_buf_printf(&b, "%u %s\n", i, "of a thousand lines");
  bool failed = b.failed;
  hd_buf_free(&b);
  return failed ? hd_nomem(d) : HD_OK;
}

static hd_status vector(void *ctx, hd_diag *d) {
  HD_VEC(uint64_t) v = {0};
  bool ok = true;
  for (unsigned i = 0; ok && i < 10000; i++) ok = hd_vec_push(&v, i);
  hd_vec_free(&v);
  return ok ? HD_OK : hd_nomem(d);
}

static hd_status files(void *ctx, hd_diag *d) {
  char path[] = "/tmp/heddle-nomem-XXXXXX";
  int fd = mkstemp(path);
  if (fd < 0) return hd_fail(d, HD_ERR_IO, "%s", path);
  close(fd);
  hd_status st = hd_file_write(path, "text", 4, d);
  hd_file f;
  if (st == HD_OK) st = hd_file_open(path, &f, d);
  if (st == HD_OK) hd_file_close(&f);
  unlink(path);
  return st;
}

static hd_status turns(void *ctx, hd_diag *d) {
  hd_turns *t;
  hd_status st = hd_turns_open(&(hd_turns_options){0}, 2, &t, d);
  if (st != HD_OK) return st;
  while (hd_turns_state(t) == HD_TURNS_OPEN) hd_turns_tell(t, hd_turns_next(t), 1);
  hd_turns_close(t);
  return HD_OK;
}

static hd_status answer(void *ctx, size_t i, unsigned thread, hd_buf *out, hd_diag *d) {
  hd_buf_printf(out, "answer %zu", i);
  return HD_OK;
}

static hd_status take(void *ctx, size_t i, const void *bytes, size_t len, hd_diag *d) { return HD_OK; }

/* A first part, then the rest of it, from its journal. */
static hd_status work(void *ctx, hd_diag *d) {
  char path[] = "/tmp/heddle-nomem-XXXXXX";
  static const char *const words[] = {"word"};
  const hd_work w = {.n = 5, .item = answer, .take = take};
  const hd_work_how first = {
      .journal = path, .resume = true, .shard = 1, .shards = 2, .command = words, .n_words = 1};
  const hd_work_how all = {.journal = path, .resume = true};
  bool whole;
  int fd = mkstemp(path);
  if (fd < 0) return hd_fail(d, HD_ERR_IO, "%s", path);
  close(fd);
  hd_status st = hd_work_run(&w, &first, &whole, d);
  if (st == HD_OK) st = hd_work_run(&w, &all, &whole, d);
  unlink(path);
  return st;
}

static void every_allocation_that_fails_is_said(void **state) {
  static const nomem_entry cases[] = {{"arena", arena, NULL, false},   {"buffer", buffer, NULL, false},
                                      {"vector", vector, NULL, false}, {"turns", turns, NULL, false},
                                      {"files", files, NULL, false},   {"work", work, NULL, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) nomem_expect(&cases[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every allocation that fails is said", every_allocation_that_fails_is_said)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
