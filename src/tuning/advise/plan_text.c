/* Plans as a command line or a file lists them. */
#include <stdlib.h>
#include <string.h>

#include "heddle/advise.h"

static hd_status add_text(hd_plan_list *l, const char *text, size_t n, hd_diag *d) {
  char *one = strndup(text, n);
  hd_plan p = {0};
  hd_status st = one ? hd_plan_parse(one, &p, d) : hd_nomem(d);
  free(one);
  if (st == HD_OK && !hd_plan_is_baseline(&p)) st = hd_plan_list_add(l, &p, 1, "asked for", d);
  return st;
}

/* Plans separated by white space; lines of a file may hold '#' comments. */
static hd_status add_listed(hd_plan_list *l, const char *text, size_t len, hd_diag *d) {
  hd_status st = HD_OK;
  for (size_t i = 0; st == HD_OK && i < len;) {
    if (strchr(" \t\r\n", text[i])) {
      i++;
    } else if (text[i] == '#') {
      while (i < len && text[i] != '\n') i++;
    } else {
      size_t n = 0;
      while (i + n < len && text[i + n] && !strchr(" \t\r\n", text[i + n])) n++;
      if (!n) return hd_fail(d, HD_ERR_INPUT, "the list of plans is not text");
      st = add_text(l, text + i, n, d);
      i += n;
    }
  }
  return st;
}

hd_status hd_plan_list_read(const char *plans, hd_plan_list *out, hd_diag *d) {
  hd_file f;
  if (plans[0] != '@') return add_listed(out, plans, strlen(plans), d);
  hd_status st = hd_file_open(plans + 1, &f, d);
  if (st != HD_OK) return st;
  st = add_listed(out, f.data, f.len, d);
  hd_file_close(&f);
  return st;
}
