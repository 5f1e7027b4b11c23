/* The numbers (%smid) of the SMs that CTAs run on. */
#include <inttypes.h>
#include <string.h>

#include "device/backend.h"

/* Each CTA sets the bit of its SM, and stays long enough for the others to be started elsewhere: sixty-four
 * loads, one after the other, that no cache near it serves. So large a CTA has an SM nearly to itself. */
static const char ptx[] = ".version 6.0\n"
                          ".target sm_50\n"
                          ".address_size 64\n"
                          ".visible .entry heddle_sms(.param .u64 bits, .param .u32 words)\n"
                          "{\n"
                          "  .reg .pred %p<3>;\n"
                          "  .reg .b32 %r<9>;\n"
                          "  .reg .b64 %rd<4>;\n"
                          "  ld.param.u64 %rd1, [bits];\n"
                          "  ld.param.u32 %r1, [words];\n"
                          "  cvta.to.global.u64 %rd1, %rd1;\n"
                          "  mov.u32 %r2, %tid.x;\n"
                          "  setp.ne.u32 %p1, %r2, 0;\n"
                          "  @%p1 bra done;\n"
                          "  mov.u32 %r3, %smid;\n"
                          "  shr.u32 %r4, %r3, 5;\n"
                          "  setp.ge.u32 %p2, %r4, %r1;\n"
                          "  @%p2 bra done;\n"
                          "  and.b32 %r5, %r3, 31;\n"
                          "  mov.u32 %r6, 1;\n"
                          "  shl.b32 %r6, %r6, %r5;\n"
                          "  mul.wide.u32 %rd2, %r4, 4;\n"
                          "  add.u64 %rd3, %rd1, %rd2;\n"
                          "  red.global.or.b32 [%rd3], %r6;\n"
                          "  mov.u32 %r7, 64;\n"
                          "again:\n"
                          "  ld.volatile.global.u32 %r8, [%rd3];\n"
                          "  and.b32 %r8, %r8, 0;\n"
                          "  add.u32 %r7, %r7, %r8;\n"
                          "  sub.u32 %r7, %r7, 1;\n"
                          "  setp.ne.u32 %p2, %r7, 0;\n"
                          "  @%p2 bra again;\n"
                          "done:\n"
                          "  bar.sync 0;\n"
                          "  ret;\n"
                          "}\n";

enum { WORDS = 256, CTAS_PER_SM = 4, THREADS = 1024 };

static void read_bits(const uint32_t bits[WORDS], hd_numbers *out) {
  *out = (hd_numbers){0};
  for (uint32_t i = HD_NUMBERS / 32; i < WORDS; i++)
    if (bits[i]) return;
  memcpy(out->bits, bits, sizeof out->bits);
}

static hd_status find(hd_device *dev, device_sms *s, hd_diag *d) {
  hd_device_module *m = NULL;
  uint32_t bits[WORDS];
  struct {
    uint64_t bits;
    uint32_t words;
  } args = {.words = WORDS};
  hd_device_launch l = {.kernel = "heddle_sms",
                        .grid = {CTAS_PER_SM * dev->info.n_sms, 1, 1},
                        .block = {THREADS, 1, 1},
                        .args = &args,
                        .args_bytes = 12};
  hd_status st = hd_device_load(dev, ptx, sizeof ptx - 1, "heddle's look at the SMs", NULL, &m, d);
  if (st == HD_OK) st = hd_device_alloc(dev, sizeof bits, &args.bits, d);
  if (st == HD_OK) st = hd_device_set(dev, args.bits, 0, sizeof bits, d);
  if (st == HD_OK) st = hd_device_run(m, &l, d);
  if (st == HD_OK) st = hd_device_sync(dev, d);
  if (st == HD_OK) st = hd_device_read(dev, args.bits, bits, sizeof bits, d);
  if (st == HD_OK) read_bits(bits, &s->numbers);
  hd_device_free(dev, args.bits, NULL);
  hd_device_unload(m);
  return st;
}

hd_status hd_device_sms(hd_device *dev, hd_numbers *out, hd_diag *d) {
  device_sms *s = &dev->sms;
  hd_status st = HD_OK;
  *out = (hd_numbers){0};
  if (dev->info.kind != HD_DEVICE_CUDA) return HD_OK;
  if (!s->known) st = find(dev, s, d);
  s->known = st == HD_OK;
  if (st == HD_OK) *out = s->numbers;
  return st;
}
