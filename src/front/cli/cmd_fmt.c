#include <inttypes.h>

#include "cli.h"
#include "heddle/container.h"

/* The stored text of one module, unparsed. */
static hd_status write_raw(const char *path, uint64_t index, const char *output, hd_diag *d) {
  hd_container *c;
  hd_status st = hd_container_open(path, &c, d);
  if (st != HD_OK) return st;
  for (bool more = true; more;) {
    hd_ptx_text t;
    st = hd_container_next(c, &t, &more, d);
    if (st != HD_OK) break;
    if (!more)
      st = hd_fail(d, HD_ERR_USAGE, "%s: no module %" PRIu64, path, index == UINT64_MAX ? 0 : index);
    else if (index == UINT64_MAX || t.index == index) {
      st = hd_file_write(output, t.data, t.len, d);
      break;
    }
  }
  hd_container_close(c);
  return st;
}

int cmd_fmt(int argc, char **argv) {
  uint64_t index = UINT64_MAX;
  const char *output = "-";
  bool raw = false;
  const cli_option options[] = {
      {"module", 'm', CLI_NUMBER, &index, UINT32_MAX, "N",
       "module number, as ls shows it, when the file holds several"},
      {"raw", 0, CLI_FLAG, &raw, 0, NULL, "print the text as it is stored, unparsed"},
      CLI_COMMON("output", &output),
      {0}};
  int n, rc = cli_parse(options, argc, argv, &n);
  if (rc >= 0) return rc;
  hd_diag d = {0};
  const char *path = cli_kernel_file(argv[1]);
  if (raw) return write_raw(path, index, output, &d) == HD_OK ? EXIT_OK : cli_fail(&d);
  hd_arena arena;
  hd_arena_init(&arena);
  hd_ptx_module *m;
  hd_buf text = {0};
  hd_status st = hd_module_load(path, index, &arena, &m, &d);
  if (st == HD_OK) st = hd_ptx_print_in_place(m, &text);
  if (st == HD_OK && text.failed) st = hd_nomem(&d);
  if (st == HD_OK) st = hd_file_write(output, text.data, text.len, &d);
  hd_buf_free(&text);
  hd_arena_free(&arena);
  return st == HD_OK ? EXIT_OK : cli_fail(&d);
}
