/* A launch described in words becomes a workload in a temporary folder. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "heddle/container.h"
#include "heddle/workload.h"

/* TYPE[COUNT]=FILL -> a buffer; TYPE:VALUE -> a scalar. */
static hd_status put_arg(const char *text, size_t k, hd_buf *buffers, hd_buf *args, hd_diag *d) {
  const char *bracket = strchr(text, '['), *colon = strchr(text, ':');
  if (bracket && (!colon || bracket < colon)) {
    const char *close = strstr(bracket, "]=");
    uint64_t count;
    if (!close || !hd_parse_u64(bracket + 1, (size_t)(close - bracket - 1), UINT64_MAX, &count))
      return hd_fail(d, HD_ERR_USAGE, "--arg %zu: '%.200s' is not TYPE[COUNT]=FILL", k + 1, text);
    if (strpbrk(text, "\"\\\n"))
      return hd_fail(d, HD_ERR_USAGE, "--arg %zu: quotes do not belong here", k + 1);
    hd_buf_printf(buffers,
                  "[[buffer]]\nname = \"arg%zu\"\ntype = \"%.*s\"\ncount = %" PRIu64 "\nfill = \"%s\"\n"
                  "seed = %zu\n",
                  k + 1, (int)(bracket - text), text, count, close + 2, k + 1);
    hd_buf_printf(args, "%s\"arg%zu\"", k ? ", " : "", k + 1);
    return HD_OK;
  }
  if (!colon || strpbrk(text, "\"\\\n"))
    return hd_fail(d, HD_ERR_USAGE, "--arg %zu: '%.200s' is neither TYPE:VALUE nor TYPE[COUNT]=FILL", k + 1,
                   text);
  hd_buf_printf(args, "%s{ type = \"%.*s\", value = %s }", k ? ", " : "", (int)(colon - text), text,
                colon + 1);
  return HD_OK;
}

static hd_status write_files(const char *path, const hd_adhoc_options *o, const hd_adhoc *a, hd_diag *d) {
  hd_arena arena;
  hd_arena_init(&arena);
  hd_ptx_module *m;
  hd_buf text = {0}, toml = {0}, args = {0};
  int64_t func = -1;
  hd_status st = hd_module_load(path, o->module, &arena, &m, d);
  if (st == HD_OK && (func = hd_ptx_find_kernel(m, o->kernel)) < 0)
    st = o->kernel ? hd_fail(d, HD_ERR_INPUT, "%s: no kernel '%s'", path, o->kernel)
                   : hd_fail(d, HD_ERR_USAGE, "%s: choose a kernel with -k ('heddle ls %s' lists them)", path,
                             path);
  if (st == HD_OK) st = hd_ptx_print_in_place(m, &text);
  const char *kernel = st == HD_OK ? m->syms[m->funcs[func].sym].name : "";
  hd_buf_printf(&toml, "title = \"launch from the command line\"\nsource = \"module.ptx\"\n[sizes.small]\n");
  for (size_t k = 0; st == HD_OK && k < o->n_args; k++) st = put_arg(o->args[k], k, &toml, &args, d);
  hd_buf_printf(&toml,
                "[[launch]]\nkernel = \"%s\"\ngrid = [%u, %u, %u]\nblock = [%u, %u, %u]\nshared = %" PRIu64
                "\nargs = [%s]\n",
                kernel, o->grid[0], o->grid[1], o->grid[2], o->block[0], o->block[1], o->block[2], o->shared,
                args.data ? args.data : "");
  if (st == HD_OK && (text.failed || toml.failed || args.failed)) st = hd_nomem(d);
  if (st == HD_OK) st = hd_file_write(a->kernel_file, text.data, text.len, d);
  if (st == HD_OK) st = hd_file_write(a->workload_file, toml.data, toml.len, d);
  hd_buf_free(&text);
  hd_buf_free(&toml);
  hd_buf_free(&args);
  hd_arena_free(&arena);
  return st;
}

/* The workload's name, and so that of what is written in the end: never the input's own. */
static void name_after(const char *path, char *out, size_t cap) {
  const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');
  int n = dot && dot > base ? (int)(dot - base) : (int)strlen(base);
  snprintf(out, cap, "%.*s-reordered", n > 100 ? 100 : n, base);
}

hd_status hd_adhoc_create(const char *path, const hd_adhoc_options *o, hd_adhoc *a, hd_diag *d) {
  if (!o->grid[0] || !o->block[0])
    return hd_fail(d, HD_ERR_USAGE, "%s: a kernel file needs --grid, --block and its --arg list", path);
  strcpy(a->temporary, "/tmp/heddle-launch-XXXXXX");
  if (!mkdtemp(a->temporary)) {
    hd_fail(d, HD_ERR_IO, "cannot create a temporary folder: %s", strerror(errno));
    a->temporary[0] = 0;
    return HD_ERR_IO;
  }
  char name[128];
  name_after(path, name, sizeof name);
  snprintf(a->folder, sizeof a->folder, "%s/%s", a->temporary, name);
  snprintf(a->kernel_file, sizeof a->kernel_file, "%s/module.ptx", a->folder);
  snprintf(a->workload_file, sizeof a->workload_file, "%s/workload.toml", a->folder);
  if (mkdir(a->folder, 0700) != 0)
    return hd_fail(d, HD_ERR_IO, "%s: cannot create: %s", a->folder, strerror(errno));
  return write_files(path, o, a, d);
}

void hd_adhoc_remove(const hd_adhoc *a) {
  if (!a->temporary[0]) return;
  unlink(a->kernel_file);
  unlink(a->workload_file);
  rmdir(a->folder);
  rmdir(a->temporary);
}
