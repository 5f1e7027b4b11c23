#include "text/toml.h"

#include <stdio.h>
#include <string.h>

uint32_t toml_line(const json_t *table, const char *key) {
  char where[256];
  snprintf(where, sizeof where, "%s%s", TOML_LINE, key ? key : "");
  return (uint32_t)json_integer_value(json_object_get(table, where));
}

hd_status toml_fail(const char *name, const json_t *table, const char *key, hd_diag *d, const char *fmt,
                    ...) {
  char message[sizeof d->message];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(message, sizeof message, fmt, ap);
  va_end(ap);
  hd_fail_at(d, HD_ERR_INPUT, name, NULL, 0, 0, "%s", message);
  if (d) {
    d->line = toml_line(table, key);
    if (!d->line) d->line = toml_line(table, NULL);
    d->column = d->line ? 1 : 0;
  }
  return HD_ERR_INPUT;
}

hd_status toml_only(const char *name, const json_t *table, const char *const *known, hd_diag *d) {
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)table, key, value) {
    if (key[0] == TOML_LINE[0]) continue;
    size_t i = 0;
    while (known[i] && strcmp(known[i], key) != 0) i++;
    if (known[i]) continue;
    hd_buf list = {0};
    for (i = 0; known[i]; i++) hd_buf_printf(&list, "%s%s", i ? ", " : "", known[i]);
    hd_status st =
        toml_fail(name, table, key, d, "unknown key '%s' (known: %s)", key, list.data ? list.data : "");
    hd_buf_free(&list);
    return st;
  }
  return HD_OK;
}
