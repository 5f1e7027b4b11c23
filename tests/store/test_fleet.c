/* A store that many processes write to, and stores that are put together. */
#include "check.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "heddle/process.h"
#include "heddle/store.h"

static char folder[256], path[300];
static hd_diag d;
#define OK(call)                                                                                             \
  do {                                                                                                       \
    if ((call) != HD_OK) fail_msg("%s: %s", #call, d.message);                                               \
  } while (0)

static hd_store *open_store(const char *name) {
  hd_store *s;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  OK(hd_store_open(path, &s, &d));
  return s;
}

/* A verdict whose every field follows from its numbers. */
static hd_verdict verdict(unsigned writer, unsigned i) {
  hd_verdict v;
  memset(&v, 0, sizeof v);
  v.speedup = 1 + i / 7.0;
  v.low = 1 + i / 9.0;
  v.high = 2 + i;
  v.confidence = 0.99;
  v.before_us = 3.0 * i;
  v.after_us = 2.0 * i;
  v.tried = writer;
  v.when = 1000 + i;
  snprintf(v.key.kernel, sizeof v.key.kernel, "%08x%08x", writer, i);
  snprintf(v.key.launch, sizeof v.key.launch, "grid=%ux1x1", i + 1);
  strcpy(v.key.gpu, "GPU");
  strcpy(v.key.driver, "13.0");
  snprintf(v.name, sizeof v.name, "kernel %u of %u", i, writer);
  snprintf(v.plan, sizeof v.plan, "order=band:%u", i + 1);
  snprintf(v.counters, sizeof v.counters, "{\"n\": %u%0*d}", i, (int)(i * 37 % 1000) + 1, 0);
  return v;
}

/* ---- Writers that are killed -------------------------------------------------------------------- */

enum { WRITERS = 64 };

static void write_until_killed(unsigned writer, int told) {
  hd_store *s;
  if (hd_store_open(path, &s, &d) != HD_OK) _exit(2);
  for (unsigned i = 0;; i++) {
    const hd_verdict v = verdict(writer, i);
    if (hd_store_put(s, &v, &d) != HD_OK) _exit(3);
    if (write(told, &(unsigned[]){writer, i}, 2 * sizeof(unsigned)) < 0) _exit(4);
  }
}

static bool is_whole(void *ctx, const hd_verdict *v) {
  unsigned writer, i;
  unsigned *count = ctx;
  assert_int_equal(sscanf(v->key.kernel, "%8x%8x", &writer, &i), 2);
  const hd_verdict want = verdict(writer, i);
  assert_memory_equal(v, &want, sizeof want);
  ++*count;
  return true;
}

static void verdicts_of_64_writers_killed_at_random_are_all_there_and_whole(void **state) {
  int told[2];
  pid_t pids[WRITERS];
  hd_store_close(open_store("killed.db"));
  assert_int_equal(pipe(told), 0);
  for (unsigned k = 0; k < WRITERS; k++)
    if ((pids[k] = fork()) == 0) write_until_killed(k, told[1]);
  close(told[1]);
  unsigned acknowledged[WRITERS] = {0}, said[2], all = 0, killed = 0;
  while (read(told[0], said, sizeof said) == sizeof said) {
    acknowledged[said[0]] = said[1] + 1;
    all++;
    if (killed < WRITERS && hd_random_at(18, all) % 4 == 0) {
      const unsigned k = killed++;
      assert_int_equal(kill(pids[k], SIGKILL), 0);
    }
  }
  close(told[0]);
  for (unsigned k = 0; k < WRITERS; k++) {
    int status;
    assert_int_equal(waitpid(pids[k], &status, 0), pids[k]);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  }
  hd_store *s = open_store("killed.db");
  unsigned there = 0;
  OK(hd_store_each(s, NULL, is_whole, &there, &d));
  for (unsigned k = 0; k < WRITERS; k++)
    for (unsigned i = 0; i < acknowledged[k]; i++) {
      const hd_verdict want = verdict(k, i);
      hd_verdict got;
      bool found;
      OK(hd_store_get(s, &want.key, &got, &found, &d));
      if (!found) fail_msg("verdict %u of writer %u is lost", i, k);
    }
  assert_true(there >= all);
  hd_store_close(s);
}

/* ---- Exports put together -------------------------------------------------------------------------- */

/* One of few kernels, from one of many machines: a win or none, sure or less so. */
static hd_verdict drawn(unsigned machine, unsigned kernel) {
  const uint64_t r = hd_random_at(machine, kernel);
  hd_verdict v = verdict(0, kernel);
  v.when = (int64_t)(r % 5);
  v.tried = machine;
  if (r >> 8 & 1) {
    strcpy(v.plan, "baseline");
    v.speedup = v.low = v.high = 1;
  } else {
    snprintf(v.plan, sizeof v.plan, "order=band:%u", machine + 1);
    v.speedup = 1.5;
    v.low = 1.5 - (double)(r >> 16 & 3) / 16;
    v.high = 1.5 + (double)(r >> 16 & 3) / 16;
  }
  return v;
}

static hd_buf merged(const hd_buf *exports, unsigned n, uint64_t seed) {
  unsigned order[WRITERS];
  uint64_t taken;
  hd_buf out = {0};
  hd_store *s = open_store("merged.db");
  for (unsigned i = 0; i < n; i++) {
    const unsigned k = (unsigned)(hd_random_at(seed, i) % (i + 1));
    order[i] = order[k];
    order[k] = i;
  }
  for (unsigned i = 0; i < n; i++)
    OK(hd_store_import(s, exports[order[i]].data, exports[order[i]].len, "export", &taken, &d));
  OK(hd_store_export(s, NULL, &out, &d));
  hd_store_close(s);
  unlink(path);
  return out;
}

static void exports_of_64_machines_give_one_store_in_any_order(void **state) {
  hd_buf exports[WRITERS] = {{0}};
  for (unsigned m = 0; m < WRITERS; m++) {
    hd_store *s = open_store("one.db");
    for (unsigned k = 0; k < 8; k++) {
      const hd_verdict v = drawn(m, k);
      OK(hd_store_put(s, &v, &d));
    }
    OK(hd_store_export(s, NULL, &exports[m], &d));
    hd_store_close(s);
    unlink(path);
  }
  hd_buf want = merged(exports, WRITERS, 1);
  for (uint64_t seed = 2; seed < 8; seed++) {
    hd_buf got = merged(exports, WRITERS, seed);
    assert_string_equal(got.data, want.data);
    hd_buf_free(&got);
  }
  hd_buf_free(&want);
  for (unsigned m = 0; m < WRITERS; m++) hd_buf_free(&exports[m]);
}

static void of_two_verdicts_the_one_with_more_evidence_is_kept(void **state) {
  static const struct {
    const char *what, *plan[2];
    double width[2]; /* of the interval */
    int64_t made[2];
    int kept;
  } cases[] = {{"a confirmed win before none found", {"order=col", "baseline"}, {0.5, 0}, {1, 9}, 0},
               {"the tighter interval", {"order=col", "order=reverse"}, {0.1, 0.2}, {1, 9}, 0},
               {"of like ones the newer", {"order=col", "order=reverse"}, {0.1, 0.1}, {1, 9}, 1},
               {"of none found the newer", {"baseline", "baseline"}, {0, 0}, {1, 9}, 1}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
    for (int first = 0; first < 2; first++) {
      hd_store *s = open_store("conflict.db");
      hd_verdict v[2], got;
      bool found;
      for (int k = 0; k < 2; k++) {
        v[k] = verdict(0, 1);
        strcpy(v[k].plan, cases[c].plan[k]);
        v[k].speedup = 1.5;
        v[k].low = 1.5 - cases[c].width[k] / 2;
        v[k].high = 1.5 + cases[c].width[k] / 2;
        v[k].when = cases[c].made[k];
        v[k].tried = (unsigned)k;
      }
      for (int i = 0; i < 2; i++) {
        const int k = i ^ first;
        uint64_t taken;
        hd_buf text = {0};
        hd_store *other = open_store("other.db");
        OK(hd_store_put(other, &v[k], &d));
        OK(hd_store_export(other, NULL, &text, &d));
        hd_store_close(other);
        unlink(path);
        OK(hd_store_import(s, text.data, text.len, "export", &taken, &d));
        hd_buf_free(&text);
      }
      OK(hd_store_get(s, &v[0].key, &got, &found, &d));
      if (!found || got.tried != (unsigned)cases[c].kept) fail_msg("%s", cases[c].what);
      hd_store_close(s);
      snprintf(path, sizeof path, "%s/conflict.db", folder);
      unlink(path);
    }
}

/* ---- Network file systems ----------------------------------------------------------------------------- */

static long pretended; /* magic number of the file system; 0: as it is */

int __real_statfs64(const char *name, struct statfs *out);
int __wrap_statfs64(const char *name, struct statfs *out);
int __wrap_statfs64(const char *name, struct statfs *out) {
  const int rc = __real_statfs64(name, out);
  if (rc == 0 && pretended) out->f_type = (__typeof__(out->f_type))pretended;
  return rc;
}

static void a_store_on_a_network_file_system_is_refused(void **state) {
  static const struct {
    long magic;
    const char *name; /* NULL: not a network's */
  } cases[] = {
      {0x6969, "NFS"}, {0x0bd00bd0, "Lustre"}, {0xff534d42, "CIFS"}, {0xef53, NULL}, {0x01021994, NULL}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_store *s = NULL;
    snprintf(path, sizeof path, "%s/net%zu.db", folder, i);
    pretended = cases[i].magic;
    const hd_status st = hd_store_open(path, &s, &d);
    pretended = 0;
    assert_int_equal(st, cases[i].name ? HD_ERR_UNSUPPORTED : HD_OK);
    if (cases[i].name && (!strstr(d.message, cases[i].name) || !strstr(d.message, "export")))
      fail_msg("%s", d.message);
    if (cases[i].name) assert_int_equal(access(path, F_OK), -1);
    hd_store_close(s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("verdicts of 64 writers killed at random are all there and whole",
                verdicts_of_64_writers_killed_at_random_are_all_there_and_whole),
      BEHAVIOUR("exports of 64 machines give one store in any order",
                exports_of_64_machines_give_one_store_in_any_order),
      BEHAVIOUR("of two verdicts the one with more evidence is kept",
                of_two_verdicts_the_one_with_more_evidence_is_kept),
      BEHAVIOUR("a store on a network file system is refused", a_store_on_a_network_file_system_is_refused),
  };
  if (hd_scratch_make(folder, sizeof folder, &d) != HD_OK) return 1;
  const int rc = cmocka_run_group_tests_name("fleet", tests, NULL, NULL);
  hd_scratch_remove(folder);
  return rc;
}
