/* Any bytes are imported whole or not at all. An export of the imported verdicts can be imported again. */
#include "heddle/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/heddle-fuzz-XXXXXX"; /* a store is not opened where others may write */
static char path[64];

static void remove_store(void) {
  static const char *const ends[] = {"", "-wal", "-shm"};
  char file[80];
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    snprintf(file, sizeof file, "%s%s", path, ends[i]);
    remove(file);
  }
  rmdir(folder);
}

/* One store for all inputs: opening one takes longer than all else. */
static hd_store *shared_store(void) {
  static hd_store *s;
  if (s) return s;
  if (!mkdtemp(folder)) abort();
  snprintf(path, sizeof path, "%s/store.db", folder);
  if (hd_store_open(path, &s, NULL) != HD_OK) abort();
  atexit(remove_store);
  return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  hd_store *s = shared_store();
  uint64_t n, kept, again, dropped; /* a file may have two verdicts for a key: one is kept */
  hd_buf text = {0};
  hd_status st = hd_store_import(s, (const char *)data, size, "fuzz", &n, NULL);
  if (st != HD_OK && n) abort();
  if (hd_store_export(s, NULL, &text, NULL) != HD_OK) abort();
  if (hd_store_prune(s, NULL, &kept, NULL) != HD_OK || kept > n) abort();
  if (hd_store_import(s, text.data, text.len, "export", &again, NULL) != HD_OK || again != kept) abort();
  if (hd_store_prune(s, NULL, &dropped, NULL) != HD_OK || dropped != kept) abort();
  hd_buf_free(&text);
  return 0;
}
