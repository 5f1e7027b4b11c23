/* What programs have learnt of verdicts, as files. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "heddle/steer.h"
#include "heddle/trusted.h"

static const hd_steer_note note = {.key = {.kernel = "0123456789abcdef0123456789abcdef",
                                           .launch = "grid=64x32x1 block=32x8x1 shared=48 args=any",
                                           .gpu = "NVIDIA H100 80GB HBM3",
                                           .driver = "13.0"},
                                   .plan = "order=col,bind=agents",
                                   .name = "scale",
                                   .state = HD_STEER_BROKEN,
                                   .promised = 1.1,
                                   .median = 1.0 / 1.05,
                                   .low = 0.9,
                                   .high = 0.97,
                                   .pairs = 14,
                                   .seconds = 1e-4,
                                   .saves = 1e-5,
                                   .ready = 2e-3,
                                   .launches = 4096,
                                   .of = 3,
                                   .when = 5};

typedef struct seen {
  size_t n;
  hd_steer_note last;
  char program[64];
} seen;

static void see(void *ctx, const char *program, const hd_steer_note *n) {
  seen *s = ctx;
  s->n++;
  s->last = *n;
  snprintf(s->program, sizeof s->program, "%s", program);
}

static char home[] = "/tmp/heddle-notes-XXXXXX";
static const char *const parts[] = {"/heddle", "/heddle/run", "/heddle/run/notes"};

static void end(void) {
  char path[HD_STEER_PATH];
  hd_steer_notes_drop();
  for (size_t k = 3; k-- > 0;) {
    snprintf(path, sizeof path, "%s%s", home, parts[k]);
    rmdir(path);
  }
  rmdir(home);
}

/* A folder of heddle's that is new. */
static void begin(char folder[HD_STEER_PATH]) {
  memcpy(home + strlen(home) - 6, "XXXXXX", 6);
  assert_non_null(mkdtemp(home));
  setenv("XDG_CACHE_HOME", home, 1);
  for (size_t k = 0; k < 3; k++) {
    char path[HD_STEER_PATH];
    snprintf(path, sizeof path, "%s%s", home, parts[k]);
    assert_int_equal(mkdir(path, 0700), 0);
  }
  assert_int_equal(hd_steer_notes(folder, HD_STEER_PATH, NULL), HD_OK);
}

static void write_notes(const char *program, const char *text, size_t len, const char *folder) {
  char path[HD_STEER_PATH];
  hd_buf file = {0};
  hd_steer_notes_of(folder, program, path);
  hd_buf_printf(&file, "%s\n", program);
  hd_buf_put(&file, text, len);
  assert_int_equal(hd_trusted_write(path, file.data, file.len, NULL), HD_OK);
  hd_buf_free(&file);
}

static void a_note_survives_its_file(void **state) {
  char folder[HD_STEER_PATH];
  hd_buf line = {0};
  seen s = {0};
  begin(folder);
  hd_steer_note_print(&note, &line);
  write_notes("/a program", line.data, line.len, folder);
  hd_steer_notes_each(see, &s);
  assert_int_equal(s.n, 1);
  assert_string_equal(s.program, "/a program");
  assert_memory_equal(&s.last, &note, sizeof note);
  end();
  hd_buf_free(&line);
}

/* What was cut off anywhere, or holds something else, is passed over, and the rest is read. */
static void what_is_no_note_is_passed_over(void **state) {
  char folder[HD_STEER_PATH];
  hd_buf line = {0}, text = {0};
  begin(folder);
  hd_steer_note_print(&note, &line);
  for (size_t n = 0; n + 1 < line.len; n++) {
    seen s = {0};
    text.len = 0;
    hd_buf_put(&text, line.data, n);
    hd_buf_puts(&text, "\n");
    hd_buf_put(&text, line.data, line.len);
    write_notes("/a program", text.data, text.len, folder);
    hd_steer_notes_each(see, &s);
    assert_true(s.n == 1 || (s.n == 2 && n + 2 == line.len)); /* a last number may be shorter */
    assert_memory_equal(&s.last, &note, sizeof note);
  }
  end();
  hd_buf_free(&line);
  hd_buf_free(&text);
}

static void programs_have_notes_of_their_own(void **state) {
  char folder[HD_STEER_PATH], path[HD_STEER_PATH];
  hd_buf line = {0};
  seen s = {0};
  begin(folder);
  hd_steer_note_print(&note, &line);
  write_notes("/a", line.data, line.len, folder);
  write_notes("/b", line.data, line.len, folder);
  hd_steer_notes_each(see, &s);
  assert_int_equal(s.n, 2);
  hd_steer_notes_of(folder, "/b", path);
  hd_steer_notes_read(path, see, &s);
  assert_string_equal(s.program, "/b");
  hd_steer_notes_drop();
  s.n = 0;
  hd_steer_notes_each(see, &s);
  assert_int_equal(s.n, 0);
  end();
  hd_buf_free(&line);
}

static void what_is_put_takes_the_place_of_the_same_alone(void **state) {
  char folder[HD_STEER_PATH], path[HD_STEER_PATH];
  hd_steer_note notes[2] = {note, note};
  seen s = {0};
  begin(folder);
  hd_steer_notes_of(folder, "/a", path);
  snprintf(notes[1].plan, sizeof notes[1].plan, "order=reverse");
  assert_int_equal(hd_steer_notes_put(path, "/a", notes, 2, NULL), HD_OK);
  notes[0].launches = 7;
  assert_int_equal(hd_steer_notes_put(path, "/a", notes, 1, NULL), HD_OK);
  hd_steer_notes_read(path, see, &s);
  assert_int_equal(s.n, 2);
  assert_true(s.last.launches == 7);
  assert_int_equal(hd_steer_notes_put(path, "/a\nb", notes, 1, NULL), HD_ERR_INPUT);
  end();
}

static const hd_verdict verdict = {
    .plan = "order=col", .speedup = 1.25, .before_us = 1000, .after_us = 800, .when = 9};

static void a_new_note_knows_what_the_verdict_promises(void **state) {
  const hd_steer_note n = hd_steer_note_of(&verdict, "scale");
  assert_string_equal(n.state, HD_STEER_NEW);
  assert_true(n.promised == 1.25 && n.saves > 199e-6 && n.saves < 201e-6);
  assert_true(hd_steer_note_pays(&n) && hd_steer_note_trust(&n) == HD_TRUST_FOUND);
}

static void a_plan_pays_if_as_many_launches_save_what_it_costs(void **state) {
  hd_steer_note n = {.launches = 100, .saves = 1e-6, .ready = 99e-6};
  assert_true(hd_steer_note_pays(&n));
  n.ready = 101e-6;
  assert_true(!hd_steer_note_pays(&n));
  n.launches = 0; /* not known */
  assert_true(hd_steer_note_pays(&n));
}

static void launches_in_turns_decide_what_later_processes_do(void **state) {
  static const struct {
    hd_probation end;
    const char *state;
    hd_probation_trust trust;
  } cases[] = {{HD_PROBATION_KEPT, HD_STEER_KEPT, HD_TRUST_KEPT},
               {HD_PROBATION_BROKEN, HD_STEER_BROKEN, HD_TRUST_NONE},
               {HD_PROBATION_UNSURE, HD_STEER_UNSURE, HD_TRUST_NONE},
               {HD_PROBATION_OPEN, HD_STEER_NEW, HD_TRUST_FOUND}};
  const hd_turns_arm plan = {.pairs = 8, .median = 1.1, .low = 1, .high = INFINITY, .seconds = 9e-4};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_steer_note n = hd_steer_note_of(&verdict, "scale");
    hd_steer_note_learn(&n, cases[i].end, &plan, 1e-3);
    assert_string_equal(n.state, cases[i].state);
    assert_int_equal(hd_steer_note_trust(&n), cases[i].trust);
    assert_true(n.saves > 99e-6 && n.saves < 101e-6 && n.high == 0 && n.pairs == 8);
    hd_steer_note_begin(&n, &verdict);
    assert_string_equal(n.state, HD_STEER_NEW);
    assert_true(n.pairs == 0);
  }
}

static void what_was_slower_a_month_ago_is_stale(void **state) {
  hd_steer_note n = note;
  assert_true(hd_steer_note_is_stale(&n)); /* in 1970 */
  snprintf(n.state, sizeof n.state, "%s", HD_STEER_KEPT);
  assert_true(!hd_steer_note_is_stale(&n));
  n.ready = n.launches; /* too dear */
  assert_true(hd_steer_note_is_stale(&n));
  n.when = (int64_t)time(NULL);
  assert_true(!hd_steer_note_is_stale(&n));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_note_survives_its_file),
      cmocka_unit_test(what_is_no_note_is_passed_over),
      cmocka_unit_test(programs_have_notes_of_their_own),
      BEHAVIOUR("what is put takes the place of the same alone",
                what_is_put_takes_the_place_of_the_same_alone),
      BEHAVIOUR("a new note knows what the verdict promises", a_new_note_knows_what_the_verdict_promises),
      BEHAVIOUR("a plan pays if as many launches save what it costs",
                a_plan_pays_if_as_many_launches_save_what_it_costs),
      BEHAVIOUR("launches in turns decide what later processes do",
                launches_in_turns_decide_what_later_processes_do),
      BEHAVIOUR("what was slower a month ago is stale", what_was_slower_a_month_ago_is_stale),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
