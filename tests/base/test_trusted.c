/* Files that become code: who may have written them. */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "heddle/trusted.h"

enum { OTHER = 65534 };
static char root[64], folder[80], file[96], elsewhere[96];
static const char content[] = "code\0and more";

static int make(void **state) {
  snprintf(root, sizeof root, "/tmp/heddle-trusted-XXXXXX");
  if (!mkdtemp(root)) return -1;
  snprintf(folder, sizeof folder, "%s/kept", root);
  snprintf(file, sizeof file, "%s/file", folder);
  snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", root);
  hd_diag d;
  return hd_trusted_folder(folder, true, &d) == HD_OK &&
                 hd_sealed_write(file, content, sizeof content, &d) == HD_OK
             ? 0
             : -1;
}

static int tidy(void **state) {
  char command[128];
  snprintf(command, sizeof command, "rm -rf %s", root);
  return system(command);
}

static hd_status read_it(void) {
  hd_buf b = {0};
  hd_diag d = {0};
  const hd_status st = hd_sealed_read(file, &b, &d);
  if (st == HD_OK && (b.len != sizeof content || memcmp(b.data, content, b.len) != 0)) fail();
  if (st != HD_OK) assert_true(d.message[0] && (!b.data || b.len == 0));
  hd_buf_free(&b);
  return st;
}

static bool is_root(void) { return geteuid() == 0; }

static void spoil_owner(void) { assert_int_equal(chown(file, OTHER, (gid_t)-1), 0); }
static void spoil_folders_owner(void) { assert_int_equal(chown(folder, OTHER, (gid_t)-1), 0); }
static void spoil_group(void) { assert_int_equal(chmod(file, 0660), 0); }
static void spoil_all(void) { assert_int_equal(chmod(file, 0606), 0); }
static void spoil_folders_group(void) { assert_int_equal(chmod(folder, 0770), 0); }
static void spoil_folders_all(void) { assert_int_equal(chmod(folder, 01777), 0); }
static void spoil_link(void) {
  assert_int_equal(rename(file, elsewhere), 0);
  assert_int_equal(symlink(elsewhere, file), 0);
}
static void spoil_folders_link(void) {
  assert_int_equal(rename(folder, elsewhere), 0);
  assert_int_equal(symlink(elsewhere, folder), 0);
}
static void spoil_kind(void) {
  assert_int_equal(unlink(file), 0);
  assert_int_equal(mkfifo(file, 0600), 0);
}
static void spoil_end(void) { assert_int_equal(truncate(file, 100), 0); }
static void spoil_last(void) {
  struct stat s;
  assert_int_equal(stat(file, &s), 0);
  assert_int_equal(truncate(file, s.st_size - 1), 0);
}
static void spoil_nothing_left(void) { assert_int_equal(truncate(file, 0), 0); }
static void spoil_more(void) {
  FILE *f = fopen(file, "ab");
  assert_non_null(f);
  fputs("x", f);
  fclose(f);
}
static void spoil_byte(void) {
  FILE *f = fopen(file, "r+b");
  assert_non_null(f);
  fseek(f, -1, SEEK_END);
  fputc('x', f);
  fclose(f);
}
static void spoil_presence(void) { assert_int_equal(unlink(file), 0); }

static void what_somebody_else_may_have_written_is_not_read(void **state) {
  static const struct {
    void (*spoil)(void);
    hd_status st;
    bool as_root;
  } cases[] = {
      {spoil_owner, HD_ERR_REFUSED, true},
      {spoil_folders_owner, HD_ERR_REFUSED, true},
      {spoil_group, HD_ERR_REFUSED, false},
      {spoil_all, HD_ERR_REFUSED, false},
      {spoil_folders_group, HD_ERR_REFUSED, false},
      {spoil_folders_all, HD_ERR_REFUSED, false},
      {spoil_link, HD_ERR_REFUSED, false},
      {spoil_folders_link, HD_ERR_REFUSED, false},
      {spoil_kind, HD_ERR_REFUSED, false},
      {spoil_end, HD_ERR_INPUT, false},
      {spoil_last, HD_ERR_INPUT, false},
      {spoil_nothing_left, HD_ERR_INPUT, false},
      {spoil_more, HD_ERR_INPUT, false},
      {spoil_byte, HD_ERR_INPUT, false},
      {spoil_presence, HD_ERR_IO, false},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    if (cases[k].as_root && !is_root()) continue;
    assert_int_equal(make(state), 0);
    assert_int_equal(read_it(), HD_OK);
    cases[k].spoil();
    const hd_status st = read_it();
    if (st != cases[k].st) fail_msg("case %zu: %d", k, (int)st);
    tidy(state);
  }
}

static void files_are_the_users_alone_whatever_the_umask(void **state) {
  struct stat s;
  static const mode_t masks[] = {0, 022, 077, 0777};
  for (size_t k = 0; k < sizeof masks / sizeof *masks; k++) {
    const mode_t was = umask(masks[k]);
    const int made = make(state);
    umask(was);
    if (masks[k] == 0777 && !is_root()) {
      chmod(folder, 0700);
      tidy(state);
      continue; /* the folder cannot be entered */
    }
    assert_int_equal(made, 0);
    assert_int_equal(stat(file, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0600);
    assert_int_equal(stat(folder, &s), 0);
    assert_int_equal(s.st_mode & 0077, 0);
    tidy(state);
  }
}

/* A symbolic link is replaced, and what it led to stays. */
static void writing_follows_no_link(void **state) {
  hd_diag d;
  struct stat s;
  assert_int_equal(make(state), 0);
  spoil_link();
  assert_int_equal(hd_sealed_write(file, "new", 3, &d), HD_OK);
  assert_int_equal(lstat(file, &s), 0);
  assert_true(S_ISREG(s.st_mode));
  assert_int_equal(stat(elsewhere, &s), 0);
  assert_true((size_t)s.st_size > sizeof content);
  tidy(state);
}

static void nothing_is_written_where_others_may_write(void **state) {
  hd_diag d;
  assert_int_equal(make(state), 0);
  spoil_folders_group();
  assert_int_equal(hd_sealed_write(file, "new", 3, &d), HD_ERR_REFUSED);
  assert_int_equal(hd_trusted_make(file, &d), HD_ERR_REFUSED);
  chmod(folder, 0700);
  assert_int_equal(read_it(), HD_OK);
  tidy(state);
}

/* ---- Changed while they are read ---------------------------------------------------------------------- */

static atomic_bool stop;
enum { LONG = 1 << 20 };

/* Cuts the file off and makes it whole, again and again. */
static void *change(void *content_of_it) {
  for (unsigned k = 0; !atomic_load(&stop); k++) {
    FILE *f = fopen(file, "r+b");
    if (!f) continue;
    if (ftruncate(fileno(f), (off_t)(k % 2 ? 5000 : LONG / 2)) == 0) fwrite(content_of_it, 1, LONG, f);
    fclose(f);
  }
  return NULL;
}

static void a_file_that_changes_is_whole_or_not_read(void **state) {
  pthread_t thread;
  hd_diag d;
  hd_buf sealed = {0}, b = {0};
  char *all = malloc(LONG);
  assert_non_null(all);
  assert_int_equal(make(state), 0);
  memset(all, 'a', LONG);
  assert_int_equal(hd_sealed_write(file, all, LONG, &d), HD_OK);
  assert_int_equal(hd_trusted_read(file, &sealed, &d), HD_OK);
  assert_true(sealed.len > LONG);
  assert_int_equal(pthread_create(&thread, NULL, change, sealed.data), 0);
  for (unsigned k = 0; k < 300; k++) {
    hd_buf_clear(&b);
    if (hd_sealed_read(file, &b, &d) != HD_OK) continue;
    assert_int_equal(b.len, LONG);
    assert_memory_equal(b.data, all, LONG);
  }
  atomic_store(&stop, true);
  pthread_join(thread, NULL);
  hd_buf_free(&b);
  hd_buf_free(&sealed);
  free(all);
  tidy(state);
}

/* ---- Limits, digests, lines ------------------------------------------------------------------------------
 */

static void a_file_longer_than_may_be_is_an_error_and_no_signal(void **state) {
  struct rlimit was, low;
  hd_diag d;
  char *big = calloc(1, 100000);
  assert_int_equal(make(state), 0);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
  low = was;
  low.rlim_cur = 4096;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
  const hd_status sealed = hd_sealed_write(file, big, 100000, &d),
                  plain = hd_file_write(elsewhere, big, 100000, &d),
                  fits = hd_file_write(elsewhere, big, 4000, &d),
                  fills = hd_file_append(elsewhere, big, 96, &d),
                  overflows = hd_file_append(elsewhere, big, 1, &d);
  const uint64_t limit = hd_file_limit();
  low.rlim_cur = RLIM_INFINITY;
  const bool lifted = setrlimit(RLIMIT_FSIZE, &low) == 0 && hd_file_limit() == UINT64_MAX;
  setrlimit(RLIMIT_FSIZE, &was);
  assert_int_equal(limit, 4096);
  assert_true(lifted || was.rlim_max != RLIM_INFINITY);
  assert_int_equal(fills, HD_OK);
  assert_int_equal(overflows, HD_ERR_IO);
  assert_int_equal(sealed, HD_ERR_IO);
  assert_int_equal(plain, HD_ERR_IO);
  assert_int_equal(fits, HD_OK);
  assert_int_equal(read_it(), HD_OK); /* the old one */
  free(big);
  tidy(state);
}

static void digests_tell_where_parts_end(void **state) {
  char a[HD_SHA256_HEX], b[HD_SHA256_HEX];
  const hd_part one[] = {{"ab", 2}, {"c", 1}}, other[] = {{"a", 1}, {"bc", 2}};
  assert_string_not_equal(hd_sha256_hex(one, 2, a), hd_sha256_hex(other, 2, b));
  assert_string_equal(hd_sha256_hex(one, 2, a), hd_sha256_hex(one, 2, b));
  assert_int_equal(strlen(a), HD_SHA256_HEX - 1);
  hd_sha256_hex(NULL, 0, a); /* the empty text's, as FIPS 180-4 has it */
  assert_string_equal(a, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_somebody_else_may_have_written_is_not_read),
      cmocka_unit_test(files_are_the_users_alone_whatever_the_umask),
      cmocka_unit_test(writing_follows_no_link),
      cmocka_unit_test(nothing_is_written_where_others_may_write),
      cmocka_unit_test(a_file_that_changes_is_whole_or_not_read),
      cmocka_unit_test(a_file_longer_than_may_be_is_an_error_and_no_signal),
      cmocka_unit_test(digests_tell_where_parts_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
