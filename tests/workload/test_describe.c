/* Launches in words. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "heddle/workload.h"

static const char text[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                           ".visible .entry _ZN2ns5scaleIfEEvPT_S1_(.param .u64 data, .param .f32 by)\n"
                           ".maxntid 128, 1, 1\n{\n  ret;\n}\n"
                           ".visible .entry other(.param .u64 x)\n{\n  ret;\n}\n"
                           ".visible .entry fixed(.param .u64 x)\n.reqntid 32, 4\n{\n  ret;\n}\n";

static char path[64];

static int write_kernels(void **state) {
  strcpy(path, "/tmp/heddle-describe-XXXXXX.ptx");
  int fd = mkstemps(path, 4);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
  return close(fd);
}

static int remove_kernels(void **state) { return unlink(path); }

enum { MOST_WORDS = 16 };

/* "kernel scale", "arg f32:1", ... */
static hd_status open_words(const char *const *words, const char *save, hd_workload **w, hd_diag *d) {
  static char copies[MOST_WORDS][128];
  hd_launch_word list[MOST_WORDS];
  hd_workload_request q = {.name = path, .words = list, .save = save};
  for (; words[q.n_words]; q.n_words++) {
    char *copy = strcpy(copies[q.n_words], words[q.n_words]), *blank = strchr(copy, ' ');
    *blank = 0;
    list[q.n_words] = (hd_launch_word){copy, blank + 1};
  }
  *d = (hd_diag){0};
  return hd_workload_request_open(&q, w, d);
}

static const char *const good[] = {
    "kernel scale", "grid 4,2", "block 64", "shared 2*64", "arg x=f32[32*32]=uniform(-1, 1)",
    "arg f32:0.5",  NULL};

static void check_good(const hd_workload *w) {
  assert_int_equal(w->n_launches, 1);
  assert_string_equal(w->launches[0].kernel, "_ZN2ns5scaleIfEEvPT_S1_");
  assert_int_equal(w->launches[0].grid[0], 4);
  assert_int_equal(w->launches[0].grid[1], 2);
  assert_int_equal(w->launches[0].block[0], 64);
  assert_int_equal(w->launches[0].dynamic_shared, 128);
  assert_int_equal(w->launches[0].n_args, 2);
  assert_int_equal(w->launches[0].args[1].bits, 0x3f000000);
  assert_int_equal(w->n_buffers, 1);
  assert_string_equal(w->buffers[0].name, "x");
  assert_int_equal(w->buffers[0].count, 1024);
}

static void words_become_a_workload_that_opens_again(void **state) {
  hd_workload *w, *again;
  hd_diag d;
  assert_int_equal(open_words(good, NULL, &w, &d), HD_OK);
  check_good(w);
  assert_non_null(strstr(w->name, "-ns_scale_float"));
  assert_int_equal(hd_workload_reopen(w, "tiny", &again, NULL), HD_ERR_USAGE);
  assert_int_equal(hd_workload_reopen(w, "small", &again, NULL), HD_OK);
  assert_string_equal(again->name, w->name);
  hd_workload_close(w);
  check_good(again);
  hd_workload_close(again);
}

static void a_saved_folder_is_the_same_workload(void **state) {
  char folder[] = "/tmp/heddle-saved-XXXXXX", file[64];
  hd_workload *w;
  hd_diag d;
  assert_non_null(mkdtemp(folder));
  assert_int_equal(open_words(good, folder, &w, &d), HD_OK);
  hd_workload_close(w);
  assert_int_equal(hd_workload_open(folder, NULL, NULL, &w, &d), HD_OK);
  check_good(w);
  hd_workload_close(w);
  snprintf(file, sizeof file, "%s/module.ptx", folder);
  assert_int_equal(unlink(file), 0);
  snprintf(file, sizeof file, "%s/workload.toml", folder);
  assert_int_equal(unlink(file), 0);
  assert_int_equal(rmdir(folder), 0);
}

static void kernels_in_a_row_share_buffers_and_launch_shapes(void **state) {
  static const char *const words[] = {"grid 4",          "kernel scale", "block 64",
                                      "arg f32[8]=zero", "arg f32:1",    "kernel other",
                                      "block 32x2",      "arg arg1",     NULL};
  hd_workload *w;
  hd_diag d;
  assert_int_equal(open_words(words, NULL, &w, &d), HD_OK);
  assert_int_equal(w->n_launches, 2);
  assert_int_equal(w->n_buffers, 1);
  assert_string_equal(w->launches[1].kernel, "other");
  assert_int_equal(w->launches[1].grid[0], 4);
  assert_int_equal(w->launches[0].block[1], 1);
  assert_int_equal(w->launches[1].block[1], 2);
  assert_true(w->launches[1].args[0].is_buffer);
  assert_non_null(strstr(w->name, "-ns_scale_float+other"));
  hd_workload_close(w);
}

static void mistakes_name_the_word(void **state) {
  static const struct {
    const char *words[6], *message;
  } cases[] = {
      {{"kernel scale", "grid 1", "block 1", "arg f32"}, "--arg 'f32' names no buffer"},
      {{"kernel scale", "grid 1", "block 1", "arg f32="},
       "--arg 'f32=' is none of struct{FIELD, ...}, texture{MEMORY, KEY=VALUE, ...}, TYPE[COUNT]=FILL, "
       "TYPE:VALUE, a "
       "buffer's NAME"},
      {{"kernel scale", "grid 1", "block 1", "arg struct{}"}, "--arg 'struct{}' is not struct{FIELD, ...}"},
      {{"kernel scale", "grid 1", "block 1", "arg struct{s32:1"}, "is not struct{FIELD, ...}"},
      {{"kernel scale", "grid 1", "block 1", "arg struct{s32:1,,s32:2}"}, "is not struct{FIELD, ...}"},
      {{"kernel scale", "grid 1", "block 1", "arg struct{x}"}, "--arg 'struct{x}' names no buffer"},
      {{"kernel scale", "grid 1", "block 1", "arg struct{f32[8]=zero, s32:1.5}"},
       "s32:1.5}': value: '1.5' is no"},
      {{"kernel scale", "grid 1", "block 1", "arg texture{f32[8]=zero}"}, "'shape' should be an array"},
      {{"kernel scale", "grid 1", "block 1", "arg texture{f32[8]=zero, shape=3x3}"},
       "reaches beyond the 32 bytes"},
      {{"kernel scale", "grid 1", "block 1", "arg texture{f32[8]=zero, shape}"}, "is not texture{MEMORY"},
      {{"kernel scale", "grid 1", "block 1", "arg texture{f32[8]=zero, sha.pe=8}"}, "has a key that is none"},
      {{"kernel scale", "grid 1", "block 1", "arg texture{f32[8]=zero, form=8}"}, "unknown key 'form'"},
      {{"kernel scale", "grid 1", "block 1", "set x"}, "--set 'x' is not NAME="},
      {{"kernel scale", "grid 1", "block 1", "arg f32[8]=zero", "set c=f32[4]=what"},
       "--set 'c=f32[4]=what': fill: unknown"},
      {{"kernel scale", "grid 1", "block 1", "arg f32[8]zero"}, "--arg 'f32[8]zero' is not TYPE[COUNT]=FILL"},
      {{"kernel scale", "grid 1", "block 1", "arg f32[x]=zero"},
       "--arg 'f32[x]=zero': count: unknown name 'x'"},
      {{"kernel scale", "grid 1", "block 1", "arg f32[8]=zebra"},
       "--arg 'f32[8]=zebra': fill: unknown fill 'zebra'"},
      {{"kernel scale", "grid 1", "block 1", "arg f99[8]=zero"}, "--arg 'f99[8]=zero': unknown type 'f99'"},
      {{"kernel scale", "grid 1", "block 1", "arg f32[8]=zero", "arg s32:1.5"},
       "--arg 's32:1.5': value: '1.5' is no decimal integer"},
      {{"kernel scale", "grid 1", "block 2048", "arg f32[8]=zero"},
       "--block '2048': block: block's x is 2048"},
      {{"kernel scale", "grid 70000,70000", "block 8", "arg f32[8]=zero"},
       "--grid '70000,70000': grid: grid's y is 70000"},
      {{"kernel scale", "grid 0", "block 8", "arg f32[8]=zero"}, "--grid '0': grid: grid's x is 0"},
      {{"kernel scale", "block 8"}, "needs its launch, with an --arg for each parameter: 1: "},
      {{"kernel scael", "grid 1", "block 8"}, "no kernel 'scael'; did you mean ns::scale?"},
      {{"grid 1", "block 8"}, "choose a kernel with -k: ns::scale<float>, other, fixed"},
      {{"kernel other", "module 7", "grid 1", "block 8"}, "no module 7"},
      {{"kernel other", "module x", "grid 1", "block 8"}, "--module 'x' should be a module's number"},
      {{"kernel other", "grid 1", "block 8", "near -1"}, "--near '-1' should be a number above 0"},
  };
  hd_workload *w;
  hd_diag d;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_not_equal(open_words(cases[i].words, NULL, &w, &d), HD_OK);
    if (!strstr(d.message, cases[i].message)) fail_msg("'%s', not '%s'", d.message, cases[i].message);
    assert_null(w);
  }
}

static void a_block_is_the_one_that_the_kernel_requires(void **state) {
  static const char *const words[] = {"kernel fixed", "grid 4", "arg y=f32[8]=zero", "kernel other",
                                      "block 16",     "arg y",  "kernel fixed",      "block 32,4",
                                      "arg y",        NULL};
  static const char *const left[] = {"kernel fixed", "grid 4", "arg y=f32[8]=zero",
                                     "kernel other", "arg y",  NULL};
  hd_workload *w;
  hd_diag d;
  assert_int_equal(open_words(words, NULL, &w, &d), HD_OK);
  assert_int_equal(w->launches[0].block[0], 32);
  assert_int_equal(w->launches[0].block[1], 4);
  assert_int_equal(w->launches[1].block[0], 16);
  assert_int_equal(w->launches[1].block[1], 1);
  hd_workload_close(w);
  assert_int_not_equal(open_words(left, NULL, &w, &d), HD_OK); /* it is no other kernel's */
  assert_non_null(strstr(d.message, "other needs its launch"));
}

static void a_block_beyond_what_the_kernel_allows_is_refused(void **state) {
  static const char *const words[] = {"kernel scale",    "grid 4",    "block 256",
                                      "arg f32[8]=zero", "arg f32:1", NULL};
  hd_workload *w;
  const hd_compiled *code;
  hd_diag d;
  assert_int_equal(open_words(words, NULL, &w, &d), HD_OK);
  assert_int_equal(hd_workload_compiled(w, 80, &code, &d), HD_ERR_USAGE);
  assert_non_null(strstr(d.message, "allows blocks of at most 128 threads, not 256"));
  hd_workload_close(w);
}

static void tolerances_are_of_floats(void **state) {
  static const char *const words[] = {"kernel scale",    "grid 4",    "block 8", "arg f32[8]=zero",
                                      "arg s32[8]=zero", "near 0.25", NULL};
  hd_workload *w;
  hd_diag d;
  assert_int_equal(open_words(words, NULL, &w, &d), HD_OK);
  assert_true(w->buffers[0].atomics && w->buffers[0].rel == 0.25 && w->buffers[0].abs == 0.25);
  assert_int_equal(w->buffers[1].compare, HD_COMPARE_NONE);
  hd_workload_close(w);
}

static void structs_images_and_variables_are_described(void **state) {
  static const char *const words[] = {
      "kernel scale",
      "grid 4",
      "block 8",
      "cooperative ",
      "arg struct{p=f32[8]=uniform(-1, 1), s32:512, struct{p, f32:0.5}}",
      "arg t=texture{u8[1024]=bytes, shape=16x16, channels=4, filter=linear, read=float}",
      "arg t",
      "arg surface{p, shape=8}",
      "set filter=f32[4]=iota",
      "set n=s32:-5",
      NULL};
  hd_workload *w;
  hd_diag d;
  if (open_words(words, NULL, &w, &d) != HD_OK) fail_msg("%s", d.message);
  const hd_wl_launch *l = &w->launches[0];
  assert_true(l->cooperative);
  assert_int_equal(l->n_args, 4);
  assert_int_equal(l->args[0].n_fields, 4);
  assert_int_equal(l->args[0].bytes, 32);
  static const uint64_t at[4] = {0, 8, 16, 24};
  for (int k = 0; k < 4; k++) assert_int_equal(l->args[0].fields[k].at, at[k]);
  assert_true(l->args[0].fields[0].value.is_buffer && l->args[0].fields[2].value.is_buffer);
  assert_int_equal(l->args[0].fields[3].value.bits, 0x3f000000);
  assert_int_equal(w->n_images, 2);
  assert_true(l->args[1].image == 1 && l->args[2].image == 1 && l->args[3].image == 2);
  const hd_texture *t = &w->images[0].texture;
  assert_true(t->linear && !t->read_integer && t->image.width == 16 && t->image.height == 16 &&
              t->image.channels == 4);
  assert_true(w->images[1].surface && w->images[1].texture.image.width == 8);
  assert_int_equal(w->n_buffers, 4);
  assert_true(w->buffers[2].variable && w->buffers[3].variable);
  assert_string_equal(w->buffers[2].name, "filter");
  assert_int_equal(w->buffers[2].count, 4);
  assert_string_equal(w->buffers[3].fill, "value(-5)");
  hd_workload_close(w);
}

static void parameters_are_those_that_the_name_and_the_text_say(void **state) {
  static const char text[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                             ".visible .entry _Z1kPKfid4pair(.param .u64 a, .param .u32 b, .param .f64 c,\n"
                             "  .param .align 8 .b8 d[16])\n{\n  ret;\n}\n"
                             ".visible .entry plain(.param .u64 a)\n{\n  ret;\n}\n";
  hd_arena arena;
  hd_ptx_module *m;
  hd_parameter p[4];
  hd_arena_init(&arena);
  assert_int_equal(hd_ptx_parse(text, sizeof text - 1, "t", &arena, &m, NULL), HD_OK);
  assert_int_equal(hd_kernel_parameters(m, (uint32_t)hd_ptx_find_kernel(m, "_Z1kPKfid4pair"), p, 4), 4);
  assert_string_equal(p[0].c, "float const*");
  assert_true(p[0].points && !p[1].points && !p[3].points);
  assert_string_equal(p[0].elem, "f32");
  assert_string_equal(p[1].elem, "s32");
  assert_string_equal(p[2].type, "f64");
  assert_string_equal(p[3].c, "pair");
  assert_null(p[3].elem);
  assert_int_equal(p[3].bytes, 16);
  assert_int_equal(hd_kernel_parameters(m, (uint32_t)hd_ptx_find_kernel(m, "plain"), p, 0), 1);
  assert_int_equal(hd_kernel_parameters(m, (uint32_t)hd_ptx_find_kernel(m, "plain"), p, 4), 1);
  assert_string_equal(p[0].c, "");
  assert_false(p[0].points);
  hd_arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("words become a workload that opens again", words_become_a_workload_that_opens_again),
      BEHAVIOUR("a saved folder is the same workload", a_saved_folder_is_the_same_workload),
      BEHAVIOUR("kernels in a row share buffers and launch shapes",
                kernels_in_a_row_share_buffers_and_launch_shapes),
      BEHAVIOUR("parameters are those that the name and the text say",
                parameters_are_those_that_the_name_and_the_text_say),
      BEHAVIOUR("mistakes name the word", mistakes_name_the_word),
      BEHAVIOUR("a block that no word says is the one that the kernel requires",
                a_block_is_the_one_that_the_kernel_requires),
      BEHAVIOUR("a block beyond what the kernel allows is refused",
                a_block_beyond_what_the_kernel_allows_is_refused),
      BEHAVIOUR("tolerances are of floats", tolerances_are_of_floats),
      BEHAVIOUR("structs, images and variables are described", structs_images_and_variables_are_described),
  };
  return cmocka_run_group_tests(tests, write_kernels, remove_kernels);
}
