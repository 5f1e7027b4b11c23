/* The database of verdicts. Their columns are described once; statements, rows and JSON follow from that. */
#include "heddle/store.h"
#include "heddle/trusted.h"

#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "store/columns.h"
#include "store/packed.h"

enum {
  APPLICATION_ID = 0x68656464, /* "hedd": marks our databases */
  VERSION = 4,                 /* 1 had neither sizes nor tables of orders, 2 nothing assumed, 3 no basis */
  BUSY_MS = 10000,             /* others hold the lock for one statement at a time */
  RETRY_MS = 5,
};

struct hd_store {
  sqlite3 *db;
  char path[4096];
  /* Prepared when first wanted: parsing them takes longer than running them. */
  sqlite3_stmt *get, *put, *put_better;
};

const store_column store_columns[] = {
#define TEXT(field, since)                                                                                   \
  { #field, STORE_TEXT, offsetof(hd_verdict, field), sizeof((hd_verdict *)0)->field, since }
#define KEY(field, since)                                                                                    \
  { #field, STORE_TEXT, offsetof(hd_verdict, key.field), sizeof((hd_verdict *)0)->key.field, since }
    KEY(kernel, 1),
    KEY(launch, 1),
    KEY(gpu, 1),
    KEY(driver, 1),
    KEY(size, 2),
    TEXT(name, 1),
    TEXT(plan, 1),
    {"speedup", STORE_REAL, offsetof(hd_verdict, speedup), 0, 1},
    {"low", STORE_REAL, offsetof(hd_verdict, low), 0, 1},
    {"high", STORE_REAL, offsetof(hd_verdict, high), 0, 1},
    {"confidence", STORE_REAL, offsetof(hd_verdict, confidence), 0, 1},
    {"before_us", STORE_REAL, offsetof(hd_verdict, before_us), 0, 1},
    {"after_us", STORE_REAL, offsetof(hd_verdict, after_us), 0, 1},
    {"tried", STORE_U32, offsetof(hd_verdict, tried), 0, 1},
    {"made", STORE_S64, offsetof(hd_verdict, when), 0, 1},
    TEXT(counters, 1),
    TEXT(assume, 3),
    TEXT(basis, 4),
#undef TEXT
#undef KEY
};
_Static_assert(sizeof store_columns / sizeof *store_columns == STORE_COLUMNS, "one entry a column");

static const char *const types[] = {
    [STORE_TEXT] = "TEXT", [STORE_REAL] = "REAL", [STORE_U32] = "INTEGER", [STORE_S64] = "INTEGER"};

/* ---- Errors ------------------------------------------------------------------------ */

static hd_status sql_error(const hd_store *s, const char *doing, hd_diag *d) {
  int code = sqlite3_errcode(s->db) & 0xff;
  hd_status st = code == SQLITE_NOMEM                              ? HD_ERR_NOMEM
                 : code == SQLITE_CORRUPT || code == SQLITE_NOTADB ? HD_ERR_INPUT
                                                                   : HD_ERR_IO;
  hd_fail(d, st, "cannot %s: %s", doing, sqlite3_errmsg(s->db));
  if (d) snprintf(d->file, sizeof d->file, "%.*s", (int)sizeof d->file - 1, s->path);
  return st;
}

static hd_status run_sql(hd_store *s, const char *sql, const char *doing, hd_diag *d) {
  return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? HD_OK : sql_error(s, doing, d);
}

static hd_status prepare(hd_store *s, const hd_buf *sql, sqlite3_stmt **out, hd_diag *d) {
  *out = NULL;
  if (sql->failed) return hd_nomem(d);
  return sqlite3_prepare_v2(s->db, sql->data, (int)sql->len, out, NULL) == SQLITE_OK
             ? HD_OK
             : sql_error(s, "read the verdicts", d);
}

/* ---- Opening ----------------------------------------------------------------------- */

static hd_status pragma(hd_store *s, const char *name, int64_t *value, hd_diag *d) {
  hd_buf sql = {0};
  sqlite3_stmt *q;
  hd_buf_printf(&sql, "PRAGMA %s", name);
  hd_status st = prepare(s, &sql, &q, d);
  hd_buf_free(&sql);
  *value = 0;
  if (st == HD_OK && sqlite3_step(q) == SQLITE_ROW)
    *value = sqlite3_column_int64(q, 0);
  else if (st == HD_OK)
    st = sql_error(s, "read the verdicts", d);
  sqlite3_finalize(q);
  return st;
}

/* The columns that a version has, or those that it lacks: by name, or each as ''. */
static void list_columns(hd_buf *sql, int64_t version, bool lacks, bool empty) {
  for (int i = 0; i < STORE_COLUMNS; i++)
    if ((store_columns[i].since > version) == lacks)
      hd_buf_printf(sql, "%s%s", i || lacks ? ", " : "", empty ? "''" : store_columns[i].name);
}

static hd_status run_buf(hd_store *s, hd_buf *sql, const char *doing, hd_diag *d) {
  hd_status st = sql->failed ? hd_nomem(d) : run_sql(s, sql->data, doing, d);
  hd_buf_free(sql);
  return st;
}

static hd_status make_tables(hd_store *s, bool orders, hd_diag *d) {
  hd_buf sql = {0};
  hd_buf_printf(&sql, "PRAGMA application_id = %d; PRAGMA user_version = %d; CREATE TABLE verdicts (",
                APPLICATION_ID, VERSION);
  for (int i = 0; i < STORE_COLUMNS; i++)
    hd_buf_printf(&sql, "%s %s NOT NULL, ", store_columns[i].name, types[store_columns[i].type]);
  hd_buf_puts(&sql, "PRIMARY KEY (");
  for (int i = 0; i < STORE_KEY_COLUMNS; i++)
    hd_buf_printf(&sql, "%s%s", i ? ", " : "", store_columns[i].name);
  hd_buf_puts(&sql, ")) WITHOUT ROWID");
  if (orders)
    hd_buf_puts(&sql, "; CREATE TABLE tables (name TEXT PRIMARY KEY NOT NULL, tasks INTEGER NOT NULL, packed "
                      "BLOB NOT NULL)");
  return run_buf(s, &sql, "make the store", d);
}

static hd_status upgrade(hd_store *s, int64_t version, hd_diag *d) {
  hd_buf sql = {0};
  hd_status st = run_sql(s, "ALTER TABLE verdicts RENAME TO older", "upgrade the store", d);
  if (st == HD_OK) st = make_tables(s, version == 1, d);
  if (st != HD_OK) return st;
  hd_buf_puts(&sql, "INSERT INTO verdicts (");
  list_columns(&sql, version, false, false);
  list_columns(&sql, version, true, false);
  hd_buf_puts(&sql, ") SELECT ");
  list_columns(&sql, version, false, false);
  list_columns(&sql, version, true, true);
  hd_buf_puts(&sql, " FROM older; DROP TABLE older");
  return run_buf(s, &sql, "upgrade the store", d);
}

/* A new file gets its tables; two processes may open it at the same time, so that looking and making are one
 * transaction. */
static hd_status check_version(hd_store *s, hd_diag *d) {
  int64_t id = 0, version = 0, tables = 0;
  hd_status st = run_sql(s, "BEGIN IMMEDIATE", "open the store", d);
  if (st != HD_OK) return st;
  st = pragma(s, "application_id", &id, d);
  if (st == HD_OK) st = pragma(s, "user_version", &version, d);
  if (st == HD_OK) st = pragma(s, "schema_version", &tables, d); /* 0 in an empty database */
  if (st == HD_OK && id == 0 && tables == 0)
    st = make_tables(s, true, d);
  else if (st == HD_OK && id != APPLICATION_ID)
    st = hd_fail_at(d, HD_ERR_INPUT, s->path, NULL, 0, 0,
                    "no store of verdicts, but another program's SQLite database");
  else if (st == HD_OK && version >= 1 && version < VERSION)
    st = upgrade(s, version, d);
  else if (st == HD_OK && version != VERSION)
    st = hd_fail_at(d, HD_ERR_INPUT, s->path, NULL, 0, 0,
                    "verdicts of version %lld, this heddle knows version %d", (long long)version, VERSION);
  hd_status end = run_sql(s, st == HD_OK ? "COMMIT" : "ROLLBACK", "open the store", st == HD_OK ? d : NULL);
  return st == HD_OK ? end : st;
}

/* The write-ahead log lives in memory that processes of one machine share: over a network it would be torn.
 */
static hd_status refuse_network(const hd_store *s, hd_diag *d) {
  static const struct {
    uint32_t magic;
    const char *name;
  } networks[] = {{0x6969, "NFS"},        {0xff534d42, "CIFS"}, {0xfe534d42, "SMB"},    {0x517b, "SMB"},
                  {0x5346414f, "AFS"},    {0x00c36400, "Ceph"}, {0x0bd00bd0, "Lustre"}, {0x47504653, "GPFS"},
                  {0x19830326, "BeeGFS"}, {0xaad7aaea, "PanFS"}};
  char folder[sizeof s->path];
  struct statfs at;
  snprintf(folder, sizeof folder, "%s", s->path);
  char *slash = strrchr(folder, '/');
  if (slash) slash[slash == folder] = 0;
  if (statfs(slash ? folder : ".", &at) != 0) return HD_OK; /* opening says why */
  for (size_t i = 0; i < sizeof networks / sizeof *networks; i++)
    if (networks[i].magic == (uint32_t)at.f_type)
      return hd_fail(
          d, HD_ERR_UNSUPPORTED,
          "%.300s: a store of verdicts on a network file system (%s) would be torn by machines that write at "
          "once; keep one on a local disk (--store, XDG_CACHE_HOME), and let verdicts export and import "
          "put them together",
          s->path, networks[i].name);
  return HD_OK;
}

/* SQLite does not wait for those that hold the lock while the kind of the journal changes. */
static hd_status use_log(hd_store *s, unsigned milliseconds, hd_diag *d) {
  for (unsigned waited = 0;; waited += RETRY_MS) {
    const hd_status st =
        run_sql(s, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA trusted_schema = OFF",
                "open the store", d);
    if (st == HD_OK || (sqlite3_errcode(s->db) & 0xff) != SQLITE_BUSY || waited >= milliseconds) return st;
    sqlite3_sleep(RETRY_MS);
  }
}

hd_status hd_store_open_within(const char *path, unsigned milliseconds, hd_store **out, hd_diag *d) {
  *out = NULL;
  hd_store *s = calloc(1, sizeof *s);
  if (!s) return hd_nomem(d);
  int n;
  if (path) {
    n = snprintf(s->path, sizeof s->path, "%s", path);
  } else {
    char folder[4000];
    const hd_status st = hd_trusted_cache(folder, sizeof folder, d);
    if (st != HD_OK) {
      free(s);
      return st;
    }
    n = snprintf(s->path, sizeof s->path, "%s/verdicts.db", folder);
  }
  if (n <= 0 || (size_t)n >= sizeof s->path) {
    free(s);
    return hd_fail(d, HD_ERR_IO, "the path of the verdicts is too long");
  }
  hd_status st = strcmp(s->path, ":memory:") == 0 ? HD_OK : refuse_network(s, d);
  if (st == HD_OK && strcmp(s->path, ":memory:") != 0) st = hd_trusted_make(s->path, d);
  if (st == HD_OK &&
      sqlite3_open_v2(s->path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                      NULL) != SQLITE_OK)
    st = s->db ? sql_error(s, "open the store", d) : hd_nomem(d);
  if (st == HD_OK) {
    if (milliseconds > BUSY_MS) milliseconds = BUSY_MS;
    sqlite3_busy_timeout(s->db, (int)milliseconds);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    st = check_version(s, d);
  }
  if (st == HD_OK) st = use_log(s, milliseconds, d);
  if (st != HD_OK) {
    hd_store_close(s);
    return st;
  }
  *out = s;
  return HD_OK;
}

hd_status hd_store_open(const char *path, hd_store **out, hd_diag *d) {
  return hd_store_open_within(path, BUSY_MS, out, d);
}

void hd_store_close(hd_store *s) {
  if (!s) return;
  sqlite3_finalize(s->get);
  sqlite3_finalize(s->put);
  sqlite3_finalize(s->put_better);
  sqlite3_close_v2(s->db);
  free(s);
}

/* ---- Rows ----------------------------------------------------------------------------- */

static void bind_column(sqlite3_stmt *q, int at, const store_column *c, const hd_verdict *v) {
  const char *field = (const char *)v + c->offset;
  switch (c->type) {
  case STORE_TEXT: sqlite3_bind_text(q, at, field, (int)strnlen(field, c->size - 1), SQLITE_STATIC); break;
  case STORE_REAL: sqlite3_bind_double(q, at, *(const double *)field); break;
  case STORE_U32: sqlite3_bind_int64(q, at, *(const uint32_t *)field); break;
  case STORE_S64: sqlite3_bind_int64(q, at, *(const int64_t *)field); break;
  }
}

/* Whatever a file holds, the verdict's texts fit and its numbers are in range. */
static void read_column(sqlite3_stmt *q, int at, const store_column *c, hd_verdict *v) {
  char *field = (char *)v + c->offset;
  int64_t integer = sqlite3_column_int64(q, at);
  const unsigned char *text;
  switch (c->type) {
  case STORE_TEXT:
    text = sqlite3_column_text(q, at);
    snprintf(field, c->size, "%s", text ? (const char *)text : "");
    break;
  case STORE_REAL: *(double *)field = sqlite3_column_double(q, at); break;
  case STORE_U32:
    *(uint32_t *)field = integer < 0 ? 0 : integer > UINT32_MAX ? UINT32_MAX : (uint32_t)integer;
    break;
  case STORE_S64: *(int64_t *)field = integer; break;
  }
}

static void read_row(sqlite3_stmt *q, hd_verdict *v) {
  memset(v, 0, sizeof *v);
  for (int i = 0; i < STORE_COLUMNS; i++) read_column(q, i, &store_columns[i], v);
}

static hd_status check_verdict(const hd_verdict *v, hd_diag *d) {
  if (!v->key.kernel[0] || !v->plan[0])
    return hd_fail(d, HD_ERR_USAGE, "a verdict needs a kernel and a plan");
  if (!isfinite(v->speedup) || !isfinite(v->low) || !isfinite(v->high) || !isfinite(v->confidence) ||
      !isfinite(v->before_us) || !isfinite(v->after_us))
    return hd_fail(d, HD_ERR_USAGE, "a verdict's numbers must be finite");
  return HD_OK;
}

static void write_put(hd_buf *sql) {
  hd_buf_puts(sql, "INSERT INTO verdicts VALUES (");
  for (int i = 0; i < STORE_COLUMNS; i++) hd_buf_printf(sql, "%s?%d", i ? ", " : "", i + 1);
  hd_buf_puts(sql, ") ON CONFLICT DO UPDATE SET ");
  for (int i = STORE_KEY_COLUMNS; i < STORE_COLUMNS; i++)
    hd_buf_printf(sql, "%s%s = excluded.%s", i > STORE_KEY_COLUMNS ? ", " : "", store_columns[i].name,
                  store_columns[i].name);
}

/* One total order, so that stores put together are the same in any order: a win that was confirmed, the
 * tighter interval, the newer, and, of equals, any. */
static void write_evidence(const char *of, hd_buf *sql) {
  hd_buf_printf(sql,
                "(%splan != 'baseline', CASE %splan WHEN 'baseline' THEN 0 ELSE (%slow - %shigh) / "
                "max(%sspeedup, 1e-9) END, %smade, %splan, %sspeedup, %slow, %stried)",
                of, of, of, of, of, of, of, of, of, of);
}

static void write_put_better(hd_buf *sql) {
  write_put(sql);
  hd_buf_puts(sql, " WHERE ");
  write_evidence("excluded.", sql);
  hd_buf_puts(sql, " > ");
  write_evidence("verdicts.", sql);
}

static void write_get(hd_buf *sql) {
  hd_buf_puts(sql, "SELECT * FROM verdicts WHERE ");
  for (int i = 0; i < STORE_KEY_COLUMNS; i++)
    if (i != STORE_SIZE) hd_buf_printf(sql, "%s = ?%d AND ", store_columns[i].name, i + 1);
  hd_buf_printf(sql,
                "(?%d = '' OR size IN (?%d, '')) ORDER BY ?%d != '' AND size = ?%d DESC, made DESC LIMIT 1",
                STORE_SIZE + 1, STORE_SIZE + 1, STORE_SIZE + 1, STORE_SIZE + 1);
}

/* A statement of the store's own, for the verdict's first n columns, with what `write` makes of it. */
static hd_status bind_kept(hd_store *s, sqlite3_stmt **kept, void (*write)(hd_buf *sql), const hd_verdict *v,
                           int n, hd_diag *d) {
  hd_status st = HD_OK;
  if (!*kept) {
    hd_buf sql = {0};
    write(&sql);
    st = prepare(s, &sql, kept, d);
    hd_buf_free(&sql);
  }
  for (int i = 0; st == HD_OK && i < n; i++) bind_column(*kept, i + 1, &store_columns[i], v);
  return st;
}

/* It reads nothing more, and lets go of the verdict's texts. */
static void release_kept(sqlite3_stmt *q) {
  if (!q) return;
  sqlite3_reset(q);
  sqlite3_clear_bindings(q);
}

static hd_status put(hd_store *s, const hd_verdict *v, bool only_better, bool *changed, hd_diag *d) {
  sqlite3_stmt **q = only_better ? &s->put_better : &s->put;
  hd_status st = check_verdict(v, d);
  if (st == HD_OK) st = bind_kept(s, q, only_better ? write_put_better : write_put, v, STORE_COLUMNS, d);
  if (st == HD_OK && sqlite3_step(*q) != SQLITE_DONE) st = sql_error(s, "write the verdict", d);
  if (changed) *changed = st == HD_OK && sqlite3_changes(s->db) > 0;
  release_kept(*q);
  return st;
}

hd_status hd_store_put(hd_store *s, const hd_verdict *v, hd_diag *d) { return put(s, v, false, NULL, d); }

hd_status hd_store_get(hd_store *s, const hd_verdict_key *key, hd_verdict *out, bool *found, hd_diag *d) {
  *found = false;
  hd_verdict wanted = {.key = *key};
  hd_status st = bind_kept(s, &s->get, write_get, &wanted, STORE_KEY_COLUMNS, d);
  int rc = st == HD_OK ? sqlite3_step(s->get) : SQLITE_DONE;
  if (rc == SQLITE_ROW) {
    read_row(s->get, out);
    *found = true;
  } else if (st == HD_OK && rc != SQLITE_DONE) {
    st = sql_error(s, "read the verdicts", d);
  }
  release_kept(s->get);
  return st;
}

/* ---- Filters ---------------------------------------------------------------------------- */

static hd_status prepare_filtered(hd_store *s, const char *what, const hd_store_filter *f, const char *end,
                                  sqlite3_stmt **q, hd_diag *d) {
  static const hd_store_filter all = {0};
  if (!f) f = &all;
  const struct {
    const char *column, *pattern;
  } globs[] = {{"name", f->name}, {"gpu", f->gpu}, {"driver", f->driver}};
  hd_buf sql = {0};
  hd_buf_printf(&sql, "%s FROM verdicts WHERE (?4 = 0 OR made < ?4)", what);
  for (int i = 0; i < 3; i++)
    if (globs[i].pattern) hd_buf_printf(&sql, " AND %s GLOB ?%d", globs[i].column, i + 1);
  hd_buf_puts(&sql, end);
  hd_status st = prepare(s, &sql, q, d);
  hd_buf_free(&sql);
  if (st != HD_OK) return st;
  for (int i = 0; i < 3; i++)
    if (globs[i].pattern) sqlite3_bind_text(*q, i + 1, globs[i].pattern, -1, SQLITE_STATIC);
  sqlite3_bind_int64(*q, 4, f->before);
  return HD_OK;
}

hd_status hd_store_each(hd_store *s, const hd_store_filter *f, bool (*fn)(void *ctx, const hd_verdict *v),
                        void *ctx, hd_diag *d) {
  sqlite3_stmt *q;
  hd_status st = prepare_filtered(s, "SELECT *", f,
                                  " ORDER BY name, made DESC, kernel, launch, gpu, driver, size", &q, d);
  int rc = SQLITE_DONE;
  hd_verdict v;
  while (st == HD_OK && (rc = sqlite3_step(q)) == SQLITE_ROW) {
    read_row(q, &v);
    if (!fn(ctx, &v)) break;
  }
  if (st == HD_OK && rc != SQLITE_DONE && rc != SQLITE_ROW) st = sql_error(s, "read the verdicts", d);
  sqlite3_finalize(q);
  return st;
}

/* ---- Several statements at once ------------------------------------------------------------- */

static hd_status begin(hd_store *s, const char *doing, hd_diag *d) {
  return run_sql(s, "BEGIN IMMEDIATE", doing, d);
}

/* Keep what was done since begin, or, after a failure, none of it. */
static hd_status end(hd_store *s, hd_status st, const char *doing, hd_diag *d) {
  hd_status ended = run_sql(s, st == HD_OK ? "COMMIT" : "ROLLBACK", doing, st == HD_OK ? d : NULL);
  return st == HD_OK ? ended : st;
}

static hd_status drop_unnamed_tables(hd_store *s, hd_diag *d) {
  return run_sql(s,
                 "DELETE FROM tables WHERE NOT EXISTS (SELECT 1 FROM verdicts WHERE instr(plan, '#' || "
                 "tables.name))",
                 "drop tables", d);
}

hd_status hd_store_prune(hd_store *s, const hd_store_filter *f, uint64_t *dropped, hd_diag *d) {
  sqlite3_stmt *q = NULL;
  *dropped = 0;
  hd_status st = begin(s, "drop verdicts", d);
  if (st != HD_OK) return st;
  st = prepare_filtered(s, "DELETE", f, "", &q, d);
  if (st == HD_OK && sqlite3_step(q) != SQLITE_DONE) st = sql_error(s, "drop verdicts", d);
  if (st == HD_OK) *dropped = (uint64_t)sqlite3_changes(s->db);
  sqlite3_finalize(q);
  if (st == HD_OK) st = drop_unnamed_tables(s, d);
  return end(s, st, "drop verdicts", d);
}

/* ---- Tables of orders ----------------------------------------------------------------------------- */

static hd_status put_packed(hd_store *s, const char *name, uint64_t n, const hd_buf *packed, hd_diag *d) {
  hd_buf sql = {0};
  sqlite3_stmt *q;
  hd_buf_puts(&sql, "INSERT INTO tables (name, tasks, packed) VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET "
                    "tasks = excluded.tasks, packed = excluded.packed");
  hd_status st = prepare(s, &sql, &q, d);
  hd_buf_free(&sql);
  if (st != HD_OK) return st;
  sqlite3_bind_text(q, 1, name, -1, SQLITE_STATIC);
  sqlite3_bind_int64(q, 2, (int64_t)n);
  sqlite3_bind_blob64(q, 3, packed->data, packed->len, SQLITE_STATIC);
  if (sqlite3_step(q) != SQLITE_DONE) st = sql_error(s, "keep a table", d);
  sqlite3_finalize(q);
  return st;
}

hd_status hd_store_put_table(hd_store *s, const hd_verdict *v, const uint32_t *task, uint64_t n, hd_diag *d) {
  char own[HD_DIGEST_HEX], named[HD_DIGEST_HEX];
  hd_buf packed = {0};
  hd_verdict_table(task, n, own);
  if (!hd_verdict_table_of(v->plan, named) || strcmp(own, named) != 0)
    return hd_fail(d, HD_ERR_USAGE, "the verdict's plan does not name the table %s", own);
  hd_status st = packed_make(task, n, &packed, d);
  if (st == HD_OK) st = begin(s, "keep a table", d);
  if (st == HD_OK) {
    st = put_packed(s, own, n, &packed, d);
    if (st == HD_OK) st = put(s, v, false, NULL, d);
    st = end(s, st, "keep a table", d);
  }
  hd_buf_free(&packed);
  return st;
}

hd_status store_packed_table(hd_store *s, const char *name, hd_buf *packed, uint64_t *n, bool *found,
                             hd_diag *d) {
  hd_buf sql = {0};
  sqlite3_stmt *q;
  *found = false;
  hd_buf_puts(&sql, "SELECT tasks, packed FROM tables WHERE name = ?1");
  hd_status st = prepare(s, &sql, &q, d);
  hd_buf_free(&sql);
  if (st != HD_OK) return st;
  sqlite3_bind_text(q, 1, name, -1, SQLITE_STATIC);
  int rc = sqlite3_step(q);
  if (rc == SQLITE_ROW) {
    int64_t tasks = sqlite3_column_int64(q, 0);
    const void *bytes = sqlite3_column_blob(q, 1);
    int len = sqlite3_column_bytes(q, 1);
    *n = tasks > 0 ? (uint64_t)tasks : 0;
    hd_buf_put(packed, bytes ? bytes : "", bytes && len > 0 ? (size_t)len : 0);
    *found = !packed->failed;
    if (packed->failed) st = hd_nomem(d);
  } else if (rc != SQLITE_DONE) {
    st = sql_error(s, "read a table", d);
  }
  sqlite3_finalize(q);
  return st;
}

hd_status hd_store_get_table(hd_store *s, const char *name, uint32_t **task, uint64_t *n, bool *found,
                             hd_diag *d) {
  hd_buf packed = {0};
  *task = NULL;
  hd_status st = store_packed_table(s, name, &packed, n, found, d);
  if (st == HD_OK && *found) st = packed_read(packed.data ? packed.data : "", packed.len, *n, name, task, d);
  *found = *found && st == HD_OK;
  hd_buf_free(&packed);
  return st;
}

/* ---- Import ------------------------------------------------------------------------------- */

hd_status hd_store_import(hd_store *s, const char *text, size_t len, const char *name, uint64_t *imported,
                          hd_diag *d) {
  store_import in;
  *imported = 0;
  hd_status st = store_parse(text, len, name, &in, d);
  for (size_t i = 0; st == HD_OK && i < in.n && strcmp(s->path, ":memory:") != 0; i++)
    if (in.verdicts[i].confidence == 0 || strcmp(in.verdicts[i].key.gpu, HD_VERDICT_ANY) == 0)
      st = hd_fail_at(
          d, HD_ERR_REFUSED, name, NULL, 0, 0,
          "verdict %zu is a prediction: the store keeps what was measured; heddle run --pin takes it", i + 1);
  if (st == HD_OK) st = begin(s, "write the verdicts", d);
  if (st == HD_OK) {
    for (size_t i = 0; st == HD_OK && i < in.n_tables; i++)
      st = put_packed(s, in.tables[i].name, in.tables[i].n, &in.tables[i].packed, d);
    for (size_t i = 0; st == HD_OK && i < in.n; i++) {
      bool changed = false;
      st = put(s, &in.verdicts[i], true, &changed, d);
      *imported += changed;
    }
    if (st == HD_OK) st = drop_unnamed_tables(s, d); /* of verdicts that were older than what is here */
    st = end(s, st, "write the verdicts", d);
  }
  if (st != HD_OK) *imported = 0;
  store_import_free(&in);
  return st;
}

hd_status hd_store_import_file(hd_store *s, const char *path, uint64_t *imported, hd_diag *d) {
  hd_file f;
  *imported = 0;
  hd_status st = hd_file_open(path, &f, d);
  if (st != HD_OK) return st;
  st = hd_store_import(s, f.data, f.len, path, imported, d);
  hd_file_close(&f);
  return st;
}
