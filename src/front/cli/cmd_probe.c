/* Measures this GPU's dispatcher, pipelines and caches. */
#include "cli.h"
#include "heddle/results.h"

int cmd_probe(int argc, char **argv) {
  const char *device = "cuda:0", *output = NULL, *html = NULL, *against = NULL;
  uint64_t launches = 0, megabytes = 0, within = 10;
  bool json = false;
  const cli_option options[] = {
      {"device", 0, CLI_TEXT, &device, 0, "D", "the GPU (default: cuda:0)"},
      {"launches", 0, CLI_NUMBER, &launches, 1000, "N",
       "of the dispatcher's benchmark, plus a staggered one (default: 5)"},
      {"dram", 0, CLI_NUMBER, &megabytes, 1 << 20, "MB", "what the DRAM bandwidths read (default: 2048)"},
      {"against", 0, CLI_TEXT, &against, 0, "GPU",
       "its file, by name or path, beside what was probed; exit code 1 if any\nmeasured key differs"},
      {"within", 0, CLI_NUMBER, &within, 1000, "PERCENT", "by which keys may differ there (default: 10)"},
      CLI_COMMON_AS("output", &output, "the GPU file (default: its name with .toml, in this folder)"),
      {"html", 0, CLI_TEXT, &html, 0, "OUT", "a page of plots as well"},
      CLI_COMMON("json", &json),
      {0}};
  int n, rc = cli_parse(options, argc, argv, &n);
  if (rc >= 0) return rc;
  hd_diag d = {0};
  hd_device *dev = NULL;
  hd_probe_result r = {0};
  hd_buf toml = {0}, page = {0}, out = {0};
  hd_probe_beside beside = {.file = against, .percent = (double)within};
  hd_gpu file;
  char path[128], name[64];
  hd_probe_options o = {.launches = (uint32_t)launches, .dram_bytes = megabytes << 20, .watch = cli_watch};
  const hd_device_options opening = {.gpu_dir = cli_gpus_dir(), .instead = "only a GPU can be measured"};
  hd_status st = hd_device_open(device, &opening, &dev, &d);
  if (st == HD_OK && html && hd_device_get_gpu(dev))
    st = hd_fail(&d, HD_ERR_USAGE, "--html: nothing is measured on a model");
  if (st == HD_OK && against) st = hd_gpu_load(against, cli_gpus_dir(), &file, &d);
  if (st == HD_OK) st = hd_probe(dev, &o, &r, &d);
  if (st == HD_OK) {
    hd_probe_name(&r, name, sizeof name);
    snprintf(path, sizeof path, "%s.toml", name[0] ? name : "gpu");
    if (!output) output = path;
    hd_probe_toml(&r, &toml);
    st = toml.failed ? hd_nomem(&d) : hd_file_write(output, toml.data, toml.len, &d);
  }
  if (st == HD_OK && against) st = hd_probe_compare(&r, &file, beside.percent, &beside.keys, &d);
  if (st == HD_OK && html) {
    hd_report_probe(&r, &page);
    st = page.failed ? hd_nomem(&d) : hd_file_write(html, page.data, page.len, &d);
  }
  if (st != HD_OK) {
    rc = cli_fail(&d);
  } else {
    if (json)
      hd_probe_json(&r, against ? &beside : NULL, &out);
    else
      hd_probe_text(&r, output, html, against ? &beside : NULL, &out);
    rc = cli_print(&out);
    if (rc == EXIT_OK && beside.keys.differ) rc = EXIT_NO;
  }
  hd_buf_free(&page);
  hd_buf_free(&toml);
  hd_probe_free(&r);
  hd_device_close(dev);
  return rc;
}
