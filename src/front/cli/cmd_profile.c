/* Where a CUDA program's time goes. The program runs in a process of its own, which it becomes. */
#include <dlfcn.h>

#include "cli.h"
#include "heddle/whole.h"

typedef struct options {
  hd_steer_options steer;
  const char *gpu, *json, *html;
  uint64_t most, threads;
} options;

static void tell(const hd_diag *d) { cli_fail(d); }

static hd_status print(const options *o, const hd_profile *p, const char *program, hd_diag *d) {
  enum { ROWS = 20 };
  hd_buf text = {0}, json = {0}, page = {0};
  hd_status st = HD_OK;
  hd_profile_text(p, ROWS, &text);
  if (o->json) hd_profile_json(p, &json);
  if (o->html) hd_profile_html(p, program, &page);
  if (text.failed || json.failed || page.failed) st = hd_nomem(d);
  if (st == HD_OK) fwrite(text.data, 1, text.len, stderr);
  if (st == HD_OK && o->json) st = hd_file_write(o->json, json.data, json.len, d);
  if (st == HD_OK && o->html) st = hd_file_write(o->html, page.data, page.len, d);
  hd_buf_free(&text);
  hd_buf_free(&json);
  hd_buf_free(&page);
  return st;
}

int cmd_profile(int argc, char **argv) {
  options o = {0};
  const cli_option table[] = {
      CLI_COMMON_AS("gpu", &o.gpu, "the model that reuse is judged by (default: h100)"),
      {"most", 0, CLI_NUMBER, &o.most, 0, "N", "look into so many kernels (default: 5)"},
      {"json", 0, CLI_TEXT, &o.json, 0, "FILE", "the profile as JSON, too"},
      {"html", 0, CLI_TEXT, &o.html, 0, "FILE", "and as a page"},
      CLI_COMMON("library", &o.steer.folder),
      CLI_COMMON("threads", &o.threads),
      {0}};
  int n, rc = cli_parse(table, argc, argv, &n);
  if (rc >= 0) return rc;
  hd_diag d = {0};
  hd_gpu gpu;
  hd_profile p = {0};
  bool profiled = false;
  argv[n + 1] = NULL;
  void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (!driver)
    fputs("heddle: there is no NVIDIA driver here (libcuda.so.1); on the emulator: heddle emu -- heddle "
          "profile ...\n",
          stderr);
  const hd_profile_options how = {&gpu, (size_t)o.most, (unsigned)o.threads, cli_watch};
  hd_status st = hd_gpu_load(o.gpu ? o.gpu : "h100", cli_gpus_dir(), &gpu, &d);
  if (st == HD_OK) st = hd_whole_profile(&o.steer, argv + 1, tell, &how, &profiled, &rc, &p, &d);
  if (st == HD_OK && profiled) st = print(&o, &p, argv[1], &d);
  if (st == HD_OK && !profiled && rc == EXIT_OK) fprintf(stderr, "heddle: %s loaded no kernel\n", argv[1]);
  hd_profile_free(&p);
  return st == HD_OK ? rc : cli_fail(&d);
}
