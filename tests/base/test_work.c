/* Work whose items are done in parts, by threads, by processes that are killed, or taken from journals: the
 * result is always the one of a single run. */
#include "check.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "heddle/process.h"
#include "heddle/work.h"

enum { MOST = 200 };
static hd_diag d;
static char folder[256];
#define OK(call)                                                                                             \
  do {                                                                                                       \
    if ((call) != HD_OK) fail_msg("%s: %s", #call, d.message);                                               \
  } while (0)

/* Answers are of all lengths, zero included, and hold any byte. */
typedef struct sample {
  uint64_t seed;
  size_t n;
  double costs[MOST];
  hd_buf out; /* all answers in their order */
  atomic_size_t worked, began;
  size_t fails_at; /* this item fails; SIZE_MAX: none does */
  int kill_behind; /* the process kills itself behind so many items; 0: never */
} sample;

static hd_status item(void *ctx, size_t i, unsigned thread, hd_buf *answer, hd_diag *e) {
  sample *s = ctx;
  if (i == s->fails_at) return hd_fail(e, HD_ERR_FAULT, "item %zu", i);
  const size_t len = hd_random_at(s->seed, i) % 90;
  for (size_t k = 0; k < len; k++) hd_buf_putc(answer, (char)hd_random_at(s->seed + i, k));
  if (s->kill_behind && atomic_fetch_add(&s->began, 1) + 1 == (size_t)s->kill_behind) kill(getpid(), SIGKILL);
  atomic_fetch_add(&s->worked, 1);
  return HD_OK;
}

static hd_status take(void *ctx, size_t i, const void *answer, size_t len, hd_diag *e) {
  sample *s = ctx;
  hd_buf_printf(&s->out, "%zu:", i);
  hd_buf_put(&s->out, answer, len);
  return HD_OK;
}

static hd_work work_of(sample *s, unsigned threads) {
  hd_digest id = hd_digest_begin();
  hd_digest_bytes(&id, &s->seed, sizeof s->seed);
  return (hd_work){
      .identity = id, .n = s->n, .costs = s->costs, .threads = threads, .item = item, .take = take, .ctx = s};
}

static sample sample_of(uint64_t seed) {
  sample s = {.seed = seed, .n = hd_random_at(seed, 1) % MOST, .fails_at = SIZE_MAX};
  for (size_t i = 0; i < s.n; i++) s.costs[i] = (double)(hd_random_at(seed, i + 2) % 7);
  return s;
}

static char *path_of(const char *name, unsigned number) {
  static char paths[16][400];
  static unsigned next;
  char *out = paths[next++ % 16];
  snprintf(out, sizeof paths[0], "%s/%s.%u", folder, name, number);
  return out;
}

/* The result of one run in one thread. */
static hd_buf expected(uint64_t seed) {
  sample s = sample_of(seed);
  const hd_work w = work_of(&s, 1);
  bool whole;
  OK(hd_work_run(&w, NULL, &whole, &d));
  assert_true(whole);
  return s.out;
}

static void check_out(hd_buf *got, uint64_t seed) {
  hd_buf want = expected(seed);
  assert_int_equal(got->len, want.len);
  if (want.len) assert_memory_equal(got->data, want.data, want.len);
  hd_buf_free(got);
  hd_buf_free(&want);
}

static void any_number_of_parts_and_threads_gives_the_result_of_one(void **state) {
  static const char *const words[] = {"sweep", "a b", ""};
  for (uint64_t seed = 0; seed < 40; seed++) {
    const uint32_t shards = 1 + (uint32_t)(hd_random_at(seed, 0) % 12);
    const char *parts[12];
    size_t worked = 0;
    bool whole;
    for (uint32_t k = 0; k < shards; k++) {
      sample s = sample_of(seed);
      const hd_work w = work_of(&s, 1 + k % 3);
      parts[k] = path_of("part", k);
      unlink(parts[k]);
      OK(hd_work_run(
          &w,
          &(hd_work_how){
              .journal = parts[k], .shard = k + 1, .shards = shards, .command = words, .n_words = 3},
          &whole, &d));
      assert_int_equal(whole, shards == 1);
      if (shards > 1) assert_int_equal(s.out.len, 0);
      hd_buf_free(&s.out);
      worked += s.worked;
    }
    sample s = sample_of(seed);
    const hd_work w = work_of(&s, 1);
    assert_int_equal(worked, s.n);
    OK(hd_work_run(&w, &(hd_work_how){.parts = parts, .n_parts = shards}, &whole, &d));
    assert_true(whole);
    assert_int_equal(s.worked, 0);
    check_out(&s.out, seed);
  }
}

static void parts_are_of_like_cost(void **state) {
  double sums[5] = {0}, all = 0;
  for (uint32_t k = 0; k < 5; k++) {
    sample s = {.n = MOST, .fails_at = SIZE_MAX};
    for (size_t i = 0; i < s.n; i++) s.costs[i] = (double)(i % 10);
    const hd_work w = work_of(&s, 1);
    const char *journal = path_of("like", k);
    bool whole;
    OK(hd_work_run(&w, &(hd_work_how){.journal = journal, .shard = k + 1, .shards = 5}, &whole, &d));
    hd_file f;
    OK(hd_file_open(journal, &f, &d));
    for (const char *line = f.data; (line = memchr(line, '\n', (size_t)(f.data + f.len - line)));) {
      unsigned long long i;
      if (sscanf(++line, "a %llu ", &i) == 1) sums[k] += s.costs[i];
    }
    hd_file_close(&f);
    all += sums[k];
  }
  for (uint32_t k = 0; k < 5; k++) assert_true(sums[k] > all / 5 - 10 && sums[k] < all / 5 + 10);
}

static void a_journal_that_may_not_grow_is_an_error_and_no_signal(void **state) {
  struct rlimit was, low;
  const char *journal = path_of("full", 0);
  sample s = sample_of(3);
  const hd_work w = work_of(&s, 1);
  bool whole;
  hd_diag full = {0};
  unlink(journal);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
  low = was;
  low.rlim_cur = 100;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
  const hd_status st = hd_work_run(&w, &(hd_work_how){.journal = journal}, &whole, &full);
  setrlimit(RLIMIT_FSIZE, &was);
  hd_buf_free(&s.out);
  assert_int_equal(st, HD_ERR_IO);
  assert_non_null(strstr(full.message, "cannot write"));
  sample again = sample_of(3);
  const hd_work more = work_of(&again, 1);
  OK(hd_work_run(&more, &(hd_work_how){.journal = journal, .resume = true}, &whole, &d));
  check_out(&again.out, 3);
}

static void a_journal_cut_off_at_any_byte_is_gone_on_with(void **state) {
  const uint64_t seed = 3;
  const char *journal = path_of("cut", 0);
  sample s = sample_of(seed);
  s.n = 9;
  hd_work w = work_of(&s, 1);
  const hd_work_how how = {.journal = journal, .resume = true};
  bool whole;
  OK(hd_work_run(&w, &how, &whole, &d));
  hd_buf want = s.out;
  hd_file f;
  OK(hd_file_open(journal, &f, &d));
  char *bytes = malloc(f.len);
  const size_t len = f.len;
  memcpy(bytes, f.data, len);
  hd_file_close(&f);
  size_t before = 9;
  for (size_t cut = 0; cut <= len; cut++) {
    OK(hd_file_write(journal, bytes, cut, &d));
    if (cut % 3 == 0) { /* the last byte is not the one that was written */
      FILE *o = fopen(journal, "r+");
      if (cut) {
        fseek(o, -1, SEEK_END);
        fputc(bytes[cut - 1] ^ 1, o);
      }
      fclose(o);
      if (cut && cut <= strlen("heddle journal 1\n")) continue; /* a damaged first line is refused */
    }
    s.out = (hd_buf){0};
    s.worked = 0;
    OK(hd_work_run(&w, &how, &whole, &d));
    assert_int_equal(s.out.len, want.len);
    assert_memory_equal(s.out.data, want.data, want.len);
    hd_buf_free(&s.out);
    if (cut % 3) {
      assert_true(s.worked <= before);
      before = s.worked;
    }
  }
  assert_true(before <= 1);
  free(bytes);
  hd_buf_free(&want);
}

static void processes_killed_at_any_item_lose_only_what_they_were_at(void **state) {
  for (uint64_t seed = 100; seed < 110; seed++) {
    const char *journal = path_of("killed", (unsigned)seed);
    int killed = 0, status = -1;
    for (;; killed++) {
      const pid_t pid = fork();
      if (pid == 0) {
        sample s = sample_of(seed);
        s.kill_behind = 1 + (int)(hd_random_at(seed, (uint64_t)killed) % 40);
        const hd_work w = work_of(&s, 3);
        bool whole;
        _exit(hd_work_run(&w, &(hd_work_how){.journal = journal, .resume = true}, &whole, &d) != HD_OK);
      }
      assert_int_equal(waitpid(pid, &status, 0), pid);
      if (!WIFSIGNALED(status)) break;
    }
    assert_int_equal(status, 0);
    sample s = sample_of(seed);
    const hd_work w = work_of(&s, 1);
    bool whole;
    OK(hd_work_run(&w, &(hd_work_how){.journal = journal, .resume = true}, &whole, &d));
    assert_int_equal(s.worked, 0);
    check_out(&s.out, seed);
  }
}

static void refuse(const hd_work *w, const hd_work_how *how, const char *message) {
  bool whole = true;
  assert_int_not_equal(hd_work_run(w, how, &whole, &d), HD_OK);
  assert_false(whole);
  if (!strstr(d.message, message)) fail_msg("'%s' lacks '%s'", d.message, message);
}

static void journals_of_other_work_or_that_lack_answers_are_refused(void **state) {
  sample s = sample_of(7), other = sample_of(8);
  s.n = other.n = 20;
  for (size_t i = 0; i < s.n; i++) s.costs[i] = other.costs[i] = 1;
  const hd_work w = work_of(&s, 1), v = work_of(&other, 1);
  const char *part = path_of("one", 1), *text = path_of("text", 1);
  bool whole;
  OK(hd_work_run(&w, &(hd_work_how){.journal = part, .shard = 1, .shards = 2}, &whole, &d));
  refuse(&w, &(hd_work_how){.parts = &part, .n_parts = 1}, "answers to 10 of 20 items");
  refuse(&v, &(hd_work_how){.parts = &part, .n_parts = 1}, "of other work");
  refuse(&v, &(hd_work_how){.journal = part, .resume = true}, "of other work");
  refuse(&w, &(hd_work_how){.journal = part}, "--resume");
  OK(hd_file_write(text, "plan,l1\n", 8, &d));
  refuse(&w, &(hd_work_how){.parts = &text, .n_parts = 1}, "not a journal");
  refuse(&w, &(hd_work_how){.journal = text, .resume = true}, "not a journal");
  hd_buf_free(&s.out);
  hd_buf_free(&other.out);
}

static void an_item_that_fails_ends_the_run_and_answers_before_it_stay(void **state) {
  const char *journal = path_of("fails", 0);
  sample s = sample_of(11);
  s.n = 30;
  for (size_t i = 0; i < s.n; i++) s.costs[i] = 1;
  s.fails_at = 12;
  const hd_work w = work_of(&s, 1);
  bool whole;
  refuse(&w, &(hd_work_how){.journal = journal}, "item 12");
  hd_buf_free(&s.out);
  s.fails_at = SIZE_MAX;
  s.worked = 0;
  OK(hd_work_run(&w, &(hd_work_how){.journal = journal, .resume = true}, &whole, &d));
  assert_int_equal(s.worked, 18);
  hd_buf_free(&s.out);
}

static hd_status write_again(void *ctx, size_t i, unsigned thread, hd_buf *answer, hd_diag *e) {
  sample s = sample_of(12);
  const hd_work w = work_of(&s, 1);
  bool whole;
  return hd_work_run(&w, &(hd_work_how){.journal = ctx, .resume = true}, &whole, e);
}

static void one_run_at_a_time_writes_to_a_journal(void **state) {
  char *journal = path_of("both", 0);
  const hd_work w = {.n = 1, .item = write_again, .take = take, .ctx = journal};
  refuse(&w, &(hd_work_how){.journal = journal}, "another process writes");
}

/* A process of a pool. */
static void worker(void *ctx, int fd) {
  sample *s = ctx;
  const hd_work w = work_of(s, 2);
  bool whole;
  (void)hd_work_run(&w, &(hd_work_how){.stream = fd}, &whole, NULL);
}

static hd_status run_by_worker(void *ctx, const hd_work *w, const size_t *todo, size_t n, hd_work_done *done,
                               void *done_ctx, hd_diag *e) {
  hd_process p;
  hd_work_hello hello;
  hd_status st = hd_process_fork(worker, ctx, &p, e);
  if (st != HD_OK) return st;
  assert_true(hd_process_receive(p.fd, &hello, sizeof hello));
  assert_memory_equal(&hello.identity, &w->identity, sizeof w->identity);
  assert_int_equal(hello.n, w->n);
  assert_int_equal(hello.threads, 2);
  for (size_t k = 0; st == HD_OK && k < n; k++) {
    hd_work_answer head;
    char bytes[sizeof(hd_diag)];
    const uint64_t i = todo[n - 1 - k];
    const hd_work_order order = {.item = i};
    assert_true(hd_process_send(p.fd, &order, sizeof order));
    assert_true(hd_process_receive(p.fd, &head, sizeof head));
    assert_int_equal(head.item, i);
    assert_true(head.len <= sizeof bytes);
    assert_true(hd_process_receive(p.fd, bytes, head.len));
    if (head.status != HD_OK) {
      *e = *(hd_diag *)bytes;
      st = e->status;
    } else {
      st = done(done_ctx, i, bytes, head.len, e);
      if (st == HD_OK)
        st = done(done_ctx, i, "late", 4, e); /* the answer of another that was slow: dropped */
    }
  }
  hd_process_end(&p);
  return st;
}

static void a_worker_answers_items_in_any_order_through_its_stream(void **state) {
  for (uint64_t seed = 20; seed < 25; seed++) {
    sample s = sample_of(seed), there = sample_of(seed);
    const hd_work w = work_of(&s, 1);
    const hd_work_pool pool = {&there, run_by_worker};
    bool whole;
    OK(hd_work_run(&w, &(hd_work_how){.pool = &pool}, &whole, &d));
    assert_int_equal(s.worked, 0);
    check_out(&s.out, seed);
  }
  sample s = sample_of(30), there = sample_of(30);
  s.n = there.n = 10;
  there.fails_at = 4;
  const hd_work w = work_of(&s, 1);
  const hd_work_pool pool = {&there, run_by_worker};
  refuse(&w, &(hd_work_how){.pool = &pool}, "item 4");
  hd_buf_free(&s.out);
}

static void a_journal_tells_the_command_that_made_it(void **state) {
  static const char *const words[] = {"sweep", "mat mul", "--plans", ""};
  const char *journal = path_of("words", 0), *const * got;
  sample s = sample_of(5);
  const hd_work w = work_of(&s, 1);
  bool whole;
  size_t n;
  hd_arena a;
  hd_arena_init(&a);
  OK(hd_work_run(&w, &(hd_work_how){.journal = journal, .command = words, .n_words = 4}, &whole, &d));
  OK(hd_journal_command(journal, &a, &got, &n, &d));
  assert_int_equal(n, 4);
  for (size_t i = 0; i < n; i++) assert_string_equal(got[i], words[i]);
  hd_arena_free(&a);
  hd_buf_free(&s.out);
}

static void shards_are_told_by_words_or_by_slurm(void **state) {
  static const struct {
    const char *text, *id, *least, *most, *step, *count;
    uint32_t shard, shards; /* 0: refused */
  } cases[] = {{"1/1", .shard = 1, .shards = 1},
               {"3/8", .shard = 3, .shards = 8},
               {.text = "0/8"},
               {.text = "9/8"},
               {.text = "3"},
               {.text = "3/"},
               {.text = "/3"},
               {.text = "3/8x"},
               {.text = "-1/8"},
               {.text = ""},
               {.text = "auto"},
               {"auto", "0", "0", "7", NULL, NULL, 1, 8},
               {"auto", "7", "0", "7", "1", "8", 8, 8},
               {"auto", "5", "1", "9", "2", "5", 3, 5},
               {"auto", "5", "1", "9", "2", "4", 0, 0},
               {"auto", "10", "1", "9", "1", NULL, 0, 0},
               {"auto", "x", "1", "9", "1", NULL, 0, 0}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const char *const set[][2] = {{"SLURM_ARRAY_TASK_ID", cases[k].id},
                                  {"SLURM_ARRAY_TASK_MIN", cases[k].least},
                                  {"SLURM_ARRAY_TASK_MAX", cases[k].most},
                                  {"SLURM_ARRAY_TASK_STEP", cases[k].step},
                                  {"SLURM_ARRAY_TASK_COUNT", cases[k].count}};
    for (size_t i = 0; i < 5; i++) {
      unsetenv(set[i][0]);
      if (set[i][1]) setenv(set[i][0], set[i][1], 1);
    }
    uint32_t shard = 0, shards = 0;
    assert_int_equal(hd_shard_parse(cases[k].text, &shard, &shards, &d) == HD_OK, cases[k].shards != 0);
    if (!cases[k].shards) continue;
    assert_int_equal(shard, cases[k].shard);
    assert_int_equal(shards, cases[k].shards);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("any number of parts and threads gives the result of one",
                any_number_of_parts_and_threads_gives_the_result_of_one),
      BEHAVIOUR("parts are of like cost", parts_are_of_like_cost),
      BEHAVIOUR("a journal that may not grow is an error and no signal",
                a_journal_that_may_not_grow_is_an_error_and_no_signal),
      BEHAVIOUR("a journal cut off at any byte is gone on with",
                a_journal_cut_off_at_any_byte_is_gone_on_with),
      BEHAVIOUR("processes killed at any item lose only what they were at",
                processes_killed_at_any_item_lose_only_what_they_were_at),
      BEHAVIOUR("journals of other work or that lack answers are refused",
                journals_of_other_work_or_that_lack_answers_are_refused),
      BEHAVIOUR("an item that fails ends the run and answers before it stay",
                an_item_that_fails_ends_the_run_and_answers_before_it_stay),
      BEHAVIOUR("one run at a time writes to a journal", one_run_at_a_time_writes_to_a_journal),
      BEHAVIOUR("a worker answers items in any order through its stream",
                a_worker_answers_items_in_any_order_through_its_stream),
      BEHAVIOUR("a journal tells the command that made it", a_journal_tells_the_command_that_made_it),
      BEHAVIOUR("shards are told by words or by Slurm", shards_are_told_by_words_or_by_slurm),
  };
  if (hd_scratch_make(folder, sizeof folder, &d) != HD_OK) return 1;
  const int rc = cmocka_run_group_tests_name("work", tests, NULL, NULL);
  hd_scratch_remove(folder);
  return rc;
}
