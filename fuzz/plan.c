/* Fuzzes the floor's two readers. The first byte picks one:
 *   even  the notation: what parses must print and parse back to the same plan, and
 *         on a small grid drawn from the second and third byte be a bijection
 *   odd   the table reader, for a number of tasks drawn from the second byte: what
 *         it accepts must be a bijection that inverts twice to itself */
#include "heddle/plan.h"

#include <stdlib.h>
#include <string.h>

static void require(bool ok) {
  if (!ok) abort();
}

static void check_diag(hd_status st, const hd_diag *d) {
  char line[2048];
  require(d->status == st && d->message[0]);
  hd_diag_line(d, line, sizeof line);
  require(!strchr(line, '\n'));
}

static void check_bijection(const hd_table *t) {
  hd_table inverse, again;
  require(hd_table_invert(t, &inverse, NULL) == HD_OK);
  require(hd_table_invert(&inverse, &again, NULL) == HD_OK);
  require(t->n == again.n && memcmp(t->task, again.task, (size_t)t->n * sizeof *t->task) == 0);
  hd_table_free(&inverse);
  hd_table_free(&again);
}

static void on_a_grid(const hd_plan *p, uint8_t shape, uint8_t more) {
  hd_grid g = {.known = true, .g = {1 + shape % 16, 1 + shape / 16, 1 + more % 4}, .n_sms = 1 + more / 4};
  hd_table t;
  if (hd_plan_tabulate(p, &g, NULL, &t, NULL) == HD_OK) {
    check_bijection(&t);
    hd_table_free(&t);
  } else {
    require(hd_order_needs_table(p->order.kind) || p->shape.kind == HD_SHAPE_AUTO); /* follow from a launch */
  }
}

static void fuzz_notation(const uint8_t *data, size_t size, uint8_t shape, uint8_t more) {
  char *text = malloc(size + 1);
  hd_plan p, again;
  hd_diag d = {0};
  require(text != NULL);
  memcpy(text, data, size);
  text[size] = 0;
  hd_status st = hd_plan_parse(text, &p, &d);
  if (st == HD_OK) {
    hd_buf b = {0}, twice = {0};
    hd_plan_print(&p, &b);
    require(hd_plan_parse(b.data, &again, &d) == HD_OK && hd_plan_equal(&p, &again));
    hd_plan_print(&again, &twice);
    require(strcmp(b.data, twice.data) == 0);
    on_a_grid(&p, shape, more);
    hd_buf_free(&b);
    hd_buf_free(&twice);
  } else {
    check_diag(st, &d);
  }
  free(text);
}

static void fuzz_table(const uint8_t *data, size_t size, uint64_t V) {
  hd_table t;
  hd_diag d = {0};
  hd_status st = hd_table_parse((const char *)data, size, "table", V, &t, &d);
  if (st == HD_OK) {
    require(t.n == V);
    check_bijection(&t);
    hd_table_free(&t);
  } else {
    check_diag(st, &d);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 3) return 0;
  if (data[0] % 2 == 0)
    fuzz_notation(data + 3, size - 3, data[1], data[2]);
  else
    fuzz_table(data + 3, size - 3, data[1] < 255 ? data[1] : UINT32_MAX);
  return 0;
}
