/* What the CUDA toolkit's headers can hold, as scripts/header-forms makes kernels of it: emulated, or refused
 * as docs/not-emulated.md says. */
#include "emu/ops_run.h"

#include <sys/wait.h>

enum { SKIPPED = 77, LEAST_PERCENT = 97, LEAST_KERNELS = 1000, OUT_BYTES = 1 << 16 };
static const char *const targets[] = {"sm_90a", "sm_100a", "sm_120a"};
enum { TARGETS = sizeof targets / sizeof *targets };

typedef struct setting {
  char folder[32]; /* of the modules */
  bool made;
  char *page;
} setting;
static setting all = {.folder = "/tmp/heddle-headers-XXXXXX"};

static int make_modules(void **state) {
  char command[512];
  hd_file f;
  hd_diag d = {0};
  op_ok(hd_file_open(SOURCE_DIR "/docs/not-emulated.md", &f, &d), &d);
  all.page = strndup((const char *)f.data, f.len);
  hd_file_close(&f);
  if (!mkdtemp(all.folder)) return -1;
  snprintf(command, sizeof command, "'%s/scripts/header-forms' %s", SOURCE_DIR, all.folder);
  const int rc = system(command);
  all.made = rc == 0;
  return WIFEXITED(rc) && (all.made || WEXITSTATUS(rc) == SKIPPED) ? 0 : -1;
}
static int remove_modules(void **state) {
  char command[64];
  snprintf(command, sizeof command, "rm -r %s", all.folder);
  free(all.page);
  return system(command);
}

/* A word in quotes of [p, end) is in the text. */
static bool has_word(const char *p, const char *end, const char *text) {
  while ((p = memchr(p, '`', (size_t)(end - p)))) {
    const char *behind = memchr(p + 1, '`', (size_t)(end - p - 1));
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)(behind - p - 1), p + 1);
    if (strstr(text, word)) return true;
    p = behind + 1;
  }
  return false;
}

/* A row of the page is about what the message refuses. */
static bool is_on_page(const char *message) {
  for (const char *row = all.page; row; row = strchr(row, '\n')) {
    row += *row == '\n';
    const char *forms = strstr(row, " | "), *why = forms ? strstr(forms + 3, " | ") : NULL;
    if (strncmp(row, "| ", 2) != 0 || !why) continue;
    const bool named = !memchr(row, '`', (size_t)(forms - row)) || has_word(row, forms, message);
    if (named && (strncmp(forms, " | all", 6) == 0 || has_word(forms, why, message))) return true;
  }
  return false;
}

typedef struct tally {
  unsigned kernels, refused;
} tally;

/* With 32 threads. Operands are any, so that it may be a fault, but nothing else. */
static void run_kernel(op_machine *x, const char *kernel, uint64_t out, tally *t) {
  hd_diag d = {0};
  if (hd_emu_supported(x->p, kernel, &d) != HD_OK) {
    if (!is_on_page(d.message)) fail_msg("not on the page: %s", d.message);
    t->refused++;
    print_message("%s\n", d.message);
  } else {
    const hd_status st = op_launch(x, kernel, 1, HD_WARP, &out, sizeof out, &d);
    if (st != HD_OK && st != HD_ERR_FAULT) fail_msg("%s: status %d: %s", kernel, st, d.message);
  }
  t->kernels++;
}

static void run_module(const char *target, tally *t) {
  char path[128];
  hd_file f;
  hd_diag d = {0};
  op_machine x;
  const hd_emu_options opt = {.checks = HD_CHECK_BOUNDS,
                              .threads = 1,
                              .sm = (unsigned)atoi(target + 3),
                              .max_instructions = 100000,
                              .quiet_instructions = 100000};
  snprintf(path, sizeof path, "%s/%s.ptx", all.folder, target);
  op_ok(hd_file_open(path, &f, &d), &d);
  hd_arena_init(&x.arena);
  op_ok(hd_ptx_parse(f.data, f.len, path, &x.arena, &x.m, &d), &d);
  hd_file_close(&f);
  op_ok(hd_emu_create(&opt, &x.e, &d), &d);
  op_ok(hd_emu_load(x.e, x.m, &x.p, &d), &d);
  const uint64_t out = op_alloc(&x, NULL, OUT_BYTES);
  hd_emu_mark_written(x.e, out, OUT_BYTES);
  for (uint32_t k = 0; k < x.m->n_funcs; k++) run_kernel(&x, x.m->syms[x.m->funcs[k].sym].name, out, t);
  op_unload(&x);
}

static void instructions_of_the_toolkits_headers_run(void **state) {
  if (!all.made) skip();
  for (unsigned k = 0; k < TARGETS; k++) {
    tally t = {0};
    run_module(targets[k], &t);
    print_message("%s: %u kernels, %u refused\n", targets[k], t.kernels, t.refused);
    assert_true(t.kernels > LEAST_KERNELS);
    assert_true(100 * t.refused <= (100 - LEAST_PERCENT) * t.kernels);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("instructions of the toolkit's headers run", instructions_of_the_toolkits_headers_run),
  };
  return cmocka_run_group_tests(tests, make_modules, remove_modules);
}
