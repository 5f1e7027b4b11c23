/* alternatives.c: a template's alternatives, counted and chosen. */
#include "difftest/catalogue.h"

#include <string.h>

static uint32_t length(const dt_row *rows) {
  uint32_t n = 0;
  while (rows[n].text) n++;
  return n;
}

uint32_t dt_row_count(void) { return length(dt_plain_rows) + length(dt_matrix_rows); }

const dt_row *dt_row_at(uint32_t k) {
  const uint32_t plain = length(dt_plain_rows);
  if (k < plain) return &dt_plain_rows[k];
  return k - plain < length(dt_matrix_rows) ? &dt_matrix_rows[k - plain] : NULL;
}

/* The end of the group that begins at `p`, its closing parenthesis; NULL: these are an operand list's. */
static const char *group_end(const char *p) {
  bool alternatives = false;
  for (const char *q = p + 1; *q && *q != '('; q++) {
    alternatives |= *q == '|';
    if (*q == ')') return alternatives ? q : NULL;
  }
  return NULL;
}

void dt_pattern_read(const dt_row *row, dt_pattern *p) {
  p->row = row;
  p->n_groups = 0;
  p->n_forms = 1;
  for (const char *at = row->text; *at; at++) {
    const char *end = *at == '(' ? group_end(at) : NULL;
    if (!end || p->n_groups == DT_GROUPS) continue;
    uint32_t n = 0;
    for (const char *from = at + 1; from <= end && n < DT_CHOICES; n++) {
      const uint32_t len = (uint32_t)strcspn(from, "|)");
      p->groups[p->n_groups].choices[n].text = from;
      p->groups[p->n_groups].choices[n].len = len;
      from += len + 1;
    }
    p->groups[p->n_groups++].n = n;
    p->n_forms *= n;
    at = end;
  }
}

static uint64_t forms_of(const dt_row *row) {
  dt_pattern p;
  dt_pattern_read(row, &p);
  return p.n_forms;
}

uint64_t hd_difftest_forms(void) {
  uint64_t n = 0;
  for (uint32_t k = 0; k < dt_row_count(); k++) n += forms_of(dt_row_at(k));
  return n;
}

const dt_row *dt_form_row(uint64_t form, uint64_t *choice) {
  const dt_row *row;
  for (uint32_t k = 0; (row = dt_row_at(k)); k++) {
    const uint64_t n = forms_of(row);
    if (form < n) {
      *choice = form;
      return row;
    }
    form -= n;
  }
  return NULL;
}

/* The choice of group g. The last group turns fastest. */
static uint32_t chosen(const dt_pattern *p, uint64_t choice, uint32_t g) {
  for (uint32_t k = p->n_groups; --k > g;) choice /= p->groups[k].n;
  return (uint32_t)(choice % p->groups[g].n);
}

static void put_group(const dt_pattern *p, uint64_t choice, uint32_t g, bool as_type, hd_buf *out) {
  if (g >= p->n_groups) return;
  const uint32_t k = chosen(p, choice, g);
  const char *text = p->groups[g].choices[k].text;
  const uint32_t skip = as_type && *text == '.';
  hd_buf_put(out, text + skip, p->groups[g].choices[k].len - skip);
}

void dt_pattern_expand(const dt_pattern *p, uint64_t choice, hd_buf *out) {
  uint32_t group = 0;
  for (const char *at = p->row->text; *at; at++) {
    const char *end = *at == '(' ? group_end(at) : NULL;
    if (end && group < p->n_groups) {
      put_group(p, choice, group++, false, out);
      at = end;
    } else if (at[0] == '$' && at[1] >= '1' && at[1] <= '9') {
      put_group(p, choice, (uint32_t)(*++at - '1'), false, out);
    } else if (at[0] == '$' && at[1] == '{') {
      hd_buf_puts(out, "${");
      at += 2;
      if (*at == '=') hd_buf_putc(out, *at++);
      if (*at >= '1' && *at <= '9')
        put_group(p, choice, (uint32_t)(*at - '1'), true, out);
      else
        at--;
    } else {
      hd_buf_putc(out, *at);
    }
  }
}

unsigned hd_difftest_form_sm(uint64_t form) {
  uint64_t choice;
  const dt_row *row = dt_form_row(form, &choice);
  return row ? row->sm : 0;
}
