/* text/toml.h: TOML files as JSON trees with places.
 *
 * Parsing is tomlplusplus's; everything else here works on jansson trees. */
#ifndef HEDDLE_TEXT_TOML_H
#define HEDDLE_TEXT_TOML_H

#include <jansson.h>

#include "heddle/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Parse text into a JSON object; dates and times are refused. Each table and array of tables keeps
 * its source line under the key TOML_LINE; each key KEY of a table its line under
 * TOML_LINE KEY. Errors carry line and column. The caller releases with json_decref. */
#define TOML_LINE "\x01"
hd_status toml_parse(const char *text, size_t len, const char *name, json_t **out, hd_diag *d);

/* Source line of table[key] (or of the table when key is NULL), 0 when unknown. */
uint32_t toml_line(const json_t *table, const char *key);

/* Fail with a message at table[key]'s line. `name` is the file. */
hd_status toml_fail(const char *name, const json_t *table, const char *key, hd_diag *d, const char *fmt, ...)
    HD_PRINTF(5, 6);

/* True when every key of the table is in the NULL-terminated list; else the error names
 * the first unknown key and the known ones. */
hd_status toml_only(const char *name, const json_t *table, const char *const *known, hd_diag *d);

#ifdef __cplusplus
}
#endif
#endif
