/* Tables of orders. The first byte picks one:
 *   even  The bytes are a table's file, as text or behind "HDTABLE1". The table that is read is a bijection,
 *         and the file written of it reads as the same table.
 *   odd   The bytes deal a table and then damage its packed form in the store. Unpacking gives that table, or
 *         is refused. */
#include "heddle/plan.h"
#include "heddle/store.h"
#include "store/packed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void require(bool ok) {
  if (!ok) abort();
}

static void check_diag(hd_status st, const hd_diag *d) {
  char line[2048];
  require(d->status == st && d->message[0]);
  hd_diag_line(d, line, sizeof line);
  require(!strchr(line, '\n'));
}

static void fuzz_file(const uint8_t *data, size_t size, uint64_t V) {
  static const char mark[] = "HDTABLE1";
  hd_table t, again, inverse;
  hd_diag d = {0};
  /* Every other input is a binary table of the right count. */
  size_t len = size + 16;
  char *bytes = malloc(len);
  memcpy(bytes, mark, 8);
  memcpy(bytes + 8, &V, 8);
  memcpy(bytes + 16, data, size);
  bool text = V % 2;
  hd_status st = hd_table_parse(text ? bytes + 16 : bytes, text ? size : len, "table", V, &t, &d);
  if (st != HD_OK) {
    check_diag(st, &d);
  } else {
    char path[64];
    require(t.n == V && hd_table_invert(&t, &inverse, NULL) == HD_OK);
    snprintf(path, sizeof path, "/tmp/heddle-fuzz-table-%d", (int)getpid());
    require(hd_table_write(path, &t, &d) == HD_OK && hd_table_read(path, V, &again, &d) == HD_OK);
    require(again.n == V && memcmp(again.task, t.task, V * sizeof *t.task) == 0);
    unlink(path);
    hd_table_free(&t);
    hd_table_free(&again);
    hd_table_free(&inverse);
  }
  free(bytes);
}

static void fuzz_packed(const uint8_t *data, size_t size, uint32_t n) {
  uint32_t task[256], *out = NULL;
  hd_buf packed = {0};
  char name[HD_DIGEST_HEX];
  hd_diag d = {0};
  for (uint32_t i = 0; i < n; i++) task[i] = i;
  for (uint32_t i = n; i-- > 1 && size; data++, size--) {
    uint32_t k = *data % (i + 1), held = task[i];
    task[i] = task[k];
    task[k] = held;
  }
  hd_verdict_table(task, n, name);
  require(packed_make(task, n, &packed, &d) == HD_OK);
  for (; size >= 2; data += 2, size -= 2) packed.data[data[0] % packed.len] = (char)data[1];
  if (size) packed.len -= *data % packed.len;
  hd_status st = packed_read(packed.data, packed.len, n, name, &out, &d);
  if (st == HD_OK)
    require(memcmp(out, task, n * sizeof *task) == 0);
  else
    check_diag(st, &d);
  free(out);
  hd_buf_free(&packed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2) return 0;
  if (data[0] % 2 == 0)
    fuzz_file(data + 2, size - 2, data[1]);
  else
    fuzz_packed(data + 2, size - 2, 1u + data[1]);
  return 0;
}
