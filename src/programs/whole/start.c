/* Runs the program, recorded, and has its kernels optimized. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/device.h"
#include "heddle/process.h"
#include "whole/whole.h"

/* Thread instructions that the emulator runs in a second of two idle cores, about. */
static const double work = 5e8;
static const double default_seconds = 60, program_part = 0.5;
/* Seconds of processor time that it may take by itself behind a launch: at least these, and of the budget. */
static const double least_alone = 2, alone_part = 0.25;

static bool has_gpu(const hd_whole_options *o) {
  const hd_device_options options = {.gpu_dir = o->gpu_dir};
  hd_device *dev = NULL;
  const bool has = !getenv(HD_PROGRAM_VARIABLE) && hd_device_open("cuda:0", &options, &dev, NULL) == HD_OK;
  hd_device_close(dev);
  return has;
}

static uint64_t alone_ms(double seconds) { return (uint64_t)(1e3 * fmax(least_alone, alone_part * seconds)); }

/* The program and its arguments on one line. */
static hd_status put_line(hd_hot *h, char **argv, hd_diag *d) {
  hd_buf line = {0};
  for (char **a = argv; *a; a++) hd_buf_printf(&line, "%s%s", a == argv ? "" : " ", *a);
  h->program = line.data;
  return line.failed ? hd_nomem(d) : HD_OK;
}

hd_status hd_whole_optimize(const hd_whole_options *o, hd_hot *out, hd_diag *d) {
  const double began = hd_seconds(), seconds = o->each.seconds > 0 ? o->each.seconds : default_seconds;
  const hd_program_options emulated = {.gpu = o->gpu_name,
                                       .gpu_dir = o->gpu_dir,
                                       .folder = o->library,
                                       .devices = 1,
                                       .threads = o->each.run.machine.threads,
                                       .quiet = true,
                                       .work = o->each.exact ? 0 : (uint64_t)(program_part * seconds * work),
                                       .alone = o->each.exact ? 0 : alone_ms(seconds)};
  const hd_steer_options steer = {.record = o->save,
                                  .kernel = o->kernel,
                                  .most = "32",
                                  .folder = o->library,
                                  .emulated = has_gpu(o) ? NULL : &emulated,
                                  .aside = true};
  hd_steer_watched w;
  *out = (hd_hot){0};
  hd_status st = hd_gpu_need_clock(o->gpu, d);
  if (st == HD_OK) st = hd_folder_make(o->folder, d);
  if (st == HD_OK) st = hd_steer_watch(&steer, o->argv, o->told, &w, d);
  if (st != HD_OK) return st;
  if (!w.reported)
    st = hd_fail(d, HD_ERR_INPUT, "%s loaded no kernel; its exit code is %d", o->argv[0], w.code);
  if (st == HD_OK) st = put_line(out, o->argv, d);
  if (st == HD_OK) st = whole_optimize(o, w.report, w.emulated[0] ? w.emulated : NULL, out, d);
  out->code = w.code;
  out->seconds = hd_seconds() - began;
  hd_scratch_remove(w.folder);
  if (st != HD_OK) hd_hot_free(out);
  return st;
}

hd_status hd_whole_profile(const hd_steer_options *steer, char **argv, void (*told)(const hd_diag *),
                           const hd_profile_options *o, bool *profiled, int *code, hd_profile *out,
                           hd_diag *d) {
  hd_steer_watched w;
  *profiled = false;
  hd_status st = hd_steer_watch(steer, argv, told, &w, d);
  if (st != HD_OK) return st;
  if (w.reported) st = hd_suite_profile(w.report, o, out, d);
  *profiled = w.reported && st == HD_OK;
  if (*profiled) out->emulated = steer->emulated || getenv(HD_PROGRAM_VARIABLE);
  *code = w.code;
  hd_scratch_remove(w.folder);
  return st;
}
