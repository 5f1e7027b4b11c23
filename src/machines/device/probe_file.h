/* device/probe_file.h: the parts of a probe's GPU file. */
#ifndef HEDDLE_DEVICE_PROBE_FILE_H
#define HEDDLE_DEVICE_PROBE_FILE_H

#include "heddle/probe.h"

/* probe_file_memory.c: keys of [sm], [l2] and [dram]; mhz: of the cycles in which the file counts. */
void probe_put_gpcs(const hd_probe_result *r, hd_buf *b);
void probe_put_l2(const hd_probe_result *r, double mhz, hd_buf *b);
void probe_put_dram(const hd_probe_result *r, double mhz, hd_buf *b);
bool probe_file_has_gpcs(const hd_probe_result *r);
uint32_t probe_file_parts(const hd_probe_result *r);
double probe_file_l2_rate(const hd_probe_result *r);

#endif
