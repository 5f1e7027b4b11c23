#include "heddle/model.h"

void hd_counters_add(hd_counters *sum, const hd_counters *c) {
  sum->time_us += c->time_us;
  sum->warp_instructions += c->warp_instructions;
  sum->thread_instructions += c->thread_instructions;
  sum->l1_sectors += c->l1_sectors;
  sum->l1_hits += c->l1_hits;
  sum->l2_sectors += c->l2_sectors;
  sum->l2_hits += c->l2_hits;
  sum->l2_read_sectors += c->l2_read_sectors;
  sum->l2_write_sectors += c->l2_write_sectors;
  sum->dram_read_bytes += c->dram_read_bytes;
  sum->dram_write_bytes += c->dram_write_bytes;
  sum->compulsory_bytes += c->compulsory_bytes;
  sum->cycles += c->cycles;
  sum->cycles_issue += c->cycles_issue;
  sum->cycles_l1 += c->cycles_l1;
  sum->cycles_l2 += c->cycles_l2;
  sum->cycles_dram += c->cycles_dram;
  sum->resident = c->resident;
}
