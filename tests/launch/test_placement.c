/* A workload's buffers put elsewhere, under kernels that are loaded already. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "launch/placement.h"
#include "launch/resolved.h"
#include "workload/scratch.h"

/* Adds to a buffer's contents, so that they matter, and writes another whole; two launches of a kernel share
 * state under some plans. */
static const char sums_workload[] =
    "title = \"sums\"\nsource = \"kernel.ptx\"\n"
    "[sizes.small]\nn = 1024\n"
    "[[buffer]]\nname = \"data\"\ntype = \"u32\"\ncount = \"160 * n\"\nfill = \"uniform_int(1, 1000)\"\n"
    "[[buffer]]\nname = \"sum\"\ntype = \"u32\"\ncount = \"n\"\nfill = \"iota\"\ncompare = \"exact\"\n"
    "[[buffer]]\nname = \"out\"\ntype = \"u32\"\ncount = \"n\"\ncompare = \"exact\"\n"
    "[[launch]]\nkernel = \"sums\"\ngrid = [\"n / 64\", 2]\nblock = [32]\n"
    "args = [\"data\", { type = \"u32\", value = 3 }, \"sum\", \"out\"]\n"
    "[[launch]]\nkernel = \"sums\"\ngrid = [\"n / 64\", 2]\nblock = [32]\n"
    "args = [\"data\", { type = \"u32\", value = 5 }, \"sum\", \"out\"]\n";

static const char sums_kernel[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n"
    ".visible .entry sums(.param .u64 data, .param .u32 times, .param .u64 sum, .param .u64 out)\n{\n"
    ".reg .b32 %r<10>;\n.reg .b64 %rd<8>;\n"
    "ld.param.u64 %rd1, [data];\nld.param.u64 %rd2, [sum];\nld.param.u64 %rd3, [out];\n"
    "ld.param.u32 %r9, [times];\n"
    "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ctaid.y;\nmov.u32 %r3, %tid.x;\n"
    "mad.lo.u32 %r4, %r1, 2, %r2;\nmad.lo.u32 %r4, %r4, 32, %r3;\n"
    "mul.wide.u32 %rd4, %r4, 4;\n"
    "add.s64 %rd5, %rd1, %rd4;\nadd.s64 %rd6, %rd2, %rd4;\nadd.s64 %rd7, %rd3, %rd4;\n"
    "ld.global.u32 %r5, [%rd5];\nld.global.u32 %r6, [%rd6];\n"
    "mad.lo.u32 %r6, %r5, %r9, %r6;\nst.global.u32 [%rd6], %r6;\nst.global.u32 [%rd7], %r6;\nret;\n}\n";

/* Boxes copied by tensor maps, which hold addresses too. */
static const char boxes_workload[] =
    "title = \"boxes\"\nsource = \"kernel.ptx\"\n"
    "[sizes.small]\nm = 70\nn = 100\n"
    "[[buffer]]\nname = \"x\"\ntype = \"f32\"\ncount = \"m * n + 4\"\nfill = \"uniform(-1, 1)\"\n"
    "[[buffer]]\nname = \"y\"\ntype = \"f32\"\ncount = \"m * n\"\ncompare = \"exact\"\n"
    "[[launch]]\nkernel = \"boxes\"\ngrid = [\"ceil_div(n, 32)\", \"ceil_div(m, 16)\"]\nblock = [32]\n"
    "args = [{ tensormap = \"x\", shape = [\"m\", \"n\"], offset = 4, box = [16, 32] }, "
    "{ tensormap = \"y\", shape = [\"m\", \"n\"], box = [16, 32] }]\n";

static const char boxes_kernel[] =
    ".version 8.6\n.target sm_90a\n.address_size 64\n"
    ".visible .entry boxes(.param .align 64 .b8 x[128], .param .align 64 .b8 y[128])\n{\n"
    ".shared .align 128 .b8 box[2048];\n.shared .align 8 .b64 bar;\n"
    ".reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %d<8>;\n"
    "mov.b64 %d1, x;\nmov.b64 %d2, y;\ncvta.param.u64 %d1, %d1;\ncvta.param.u64 %d2, %d2;\n"
    "mov.u32 %r1, %tid.x;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra end;\n"
    "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ctaid.y;\nshl.b32 %r2, %r2, 5;\nshl.b32 %r3, %r3, 4;\n"
    "mbarrier.init.shared.b64 [bar], 1;\nmbarrier.arrive.expect_tx.shared.b64 _, [bar], 2048;\n"
    "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [box], [%d1, {%r2, %r3}], "
    "[bar];\n"
    "wait: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;\n@!%p2 bra wait;\n"
    "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%d2, {%r2, %r3}], [box];\n"
    "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nend: ret;\n}\n";

static hd_diag d;
#define OK(call)                                                                                             \
  do {                                                                                                       \
    if ((call) != HD_OK) fail_msg("%s: %s", #call, d.message);                                               \
  } while (0)

static int setup(void **state) {
  if (scratch_setup(state) != 0) return -1;
  scratch_write("sums/workload.toml", sums_workload);
  scratch_write("sums/kernel.ptx", sums_kernel);
  scratch_write("boxes/workload.toml", boxes_workload);
  scratch_write("boxes/kernel.ptx", boxes_kernel);
  hd_buf table = {0};
  for (int i = 31; i >= 0; i--) hd_buf_printf(&table, "%d\n", i);
  scratch_write("reverse.table", table.data);
  hd_buf_free(&table);
  return 0;
}

typedef struct bed {
  hd_device *device;
  hd_workload *w;
  placement p;
} bed;

static void open_bed(bed *b, const char *name, uint64_t memory) {
  hd_device_options o = {.emu = {.threads = 1, .n_sms = 4, .memory = memory}};
  hd_run_options run = {.machine.n_sms = 4};
  OK(hd_device_open("emu", &o, &b->device, &d));
  OK(hd_workload_open(scratch_path(name), NULL, NULL, &b->w, &d));
  OK(placement_open(&b->p, b->device, b->w, &run, &d));
}

static void close_bed(bed *b) {
  placement_close(&b->p);
  hd_workload_close(b->w);
  hd_device_close(b->device);
}

static uint64_t all_bytes(const hd_workload *w) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < w->n_buffers; i++) sum += w->buffers[i].bytes;
  return sum;
}

/* A run from the first contents. */
static void **run(bed *b, variant *v) {
  void **result;
  OK(variant_run_once(v, &d));
  OK(placement_read(&b->p, &result, &d));
  return result;
}

static void runs_alike(bed *b, variant *v, void *const *want) {
  char what[600];
  void **got = run(b, v);
  if (!launch_same(b->w, got, want, what, sizeof what)) fail_msg("%s", what);
  launch_bytes_free(b->w, got);
}

/* Every buffer lies where none has lain so far. */
static void move_all(bed *b, uint64_t *seen, size_t *n) {
  uint64_t moved;
  for (uint32_t i = 0; i < b->w->n_buffers; i++) seen[(*n)++] = b->p.addresses[i];
  OK(placement_move(&b->p, &moved, &d));
  assert_int_equal(moved, all_bytes(b->w));
  for (uint32_t i = 0; i < b->w->n_buffers; i++)
    for (size_t k = 0; k < *n; k++) assert_int_not_equal(b->p.addresses[i], seen[k]);
}

enum { MOVES = 6, SEEN = 64 };

static void same_results_after_moves(const char *name, const char *text) {
  bed b;
  variant original, v;
  uint64_t seen[SEEN];
  size_t n = 0;
  open_bed(&b, name, 0);
  hd_resolved plans = resolve_by_hand(b.w, text);
  OK(variant_open(&original, &b.p, NULL, &d));
  OK(variant_open(&v, &b.p, &plans, &d));
  /* With the first contents still on the host, and before anything ran. */
  move_all(&b, seen, &n);
  void **want = run(&b, &original);
  runs_alike(&b, &v, want);
  move_all(&b, seen, &n);
  runs_alike(&b, &v, want);
  OK(placement_learn(&b.p, want, &d));
  for (int i = 0; i < MOVES; i++) {
    move_all(&b, seen, &n);
    /* Released buffers are gone: a kernel that still used an old address would fail. */
    if (i % 2) placement_release(&b.p), n = 0;
    runs_alike(&b, &v, want);
    runs_alike(&b, &original, want);
  }
  launch_bytes_free(b.w, want);
  variant_close(&v);
  variant_close(&original);
  hd_resolved_free(&plans);
  close_bed(&b);
}

static void results_stay_the_same(void **state) {
  static const char *const plans[] = {"baseline",      "order=reverse",
                                      "bind=redirect", "bind=claim",
                                      "bind=agents:2", "order=hilbert,bind=agents,split=wave:2"};
  char table[600];
  for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) same_results_after_moves("sums", plans[i]);
  snprintf(table, sizeof table, "order=table:%s", scratch_path("reverse.table"));
  same_results_after_moves("sums", table);
}

static void tensor_maps_follow(void **state) {
  same_results_after_moves("boxes", "baseline");
  same_results_after_moves("boxes", "order=col");
}

/* A run between a move and the next restore sees the last run's contents: a move changes addresses and no
 * more. */
static void contents_go_along(void **state) {
  bed b;
  variant v;
  void **before, **after;
  uint64_t moved;
  open_bed(&b, "sums", 0);
  OK(variant_open(&v, &b.p, NULL, &d));
  OK(variant_run(&v, &d));
  OK(placement_read(&b.p, &before, &d));
  OK(placement_move(&b.p, &moved, &d));
  placement_release(&b.p);
  OK(placement_read(&b.p, &after, &d));
  for (uint32_t i = 0; i < b.w->n_buffers; i++)
    assert_memory_equal(before[i], after[i], b.w->buffers[i].bytes);
  launch_bytes_free(b.w, before);
  launch_bytes_free(b.w, after);
  variant_close(&v);
  close_bed(&b);
}

/* Room for all buffers and the small ones once more: the large one stays, and nothing is lost or kept. */
static void what_has_no_room_stays(void **state) {
  enum { MANY = 200 };
  bed b;
  variant v;
  open_bed(&b, "sums", 1 << 20);
  OK(variant_open(&v, &b.p, NULL, &d));
  uint64_t large = b.p.addresses[0], small = b.p.addresses[1];
  void **want = run(&b, &v);
  for (int i = 0; i < MANY; i++) {
    uint64_t moved;
    OK(placement_move(&b.p, &moved, &d));
    assert_int_equal(moved, all_bytes(b.w) - b.w->buffers[0].bytes);
    assert_int_equal(b.p.addresses[0], large);
    assert_int_not_equal(b.p.addresses[1], small);
    small = b.p.addresses[1];
  }
  runs_alike(&b, &v, want);
  launch_bytes_free(b.w, want);
  variant_close(&v);
  close_bed(&b);
}

static unsigned free_megabytes(hd_device *dev) {
  uint64_t address[64];
  unsigned n = 0;
  while (n < 64 && hd_device_alloc(dev, 1 << 20, &address[n], &d) == HD_OK) n++;
  for (unsigned i = 0; i < n; i++) OK(hd_device_free(dev, address[i], &d));
  return n;
}

/* Fragmented memory is other memory as well; all that it takes is given back. */
static void fragmented_memory_serves_as_well(void **state) {
  enum { MANY = 20 };
  bed b;
  variant v;
  uint64_t moved;
  open_bed(&b, "sums", 64 << 20);
  OK(variant_open(&v, &b.p, NULL, &d));
  void **want = run(&b, &v);
  OK(placement_learn(&b.p, want, &d));
  for (int i = 0; i < MANY; i++) {
    placement_fragment(&b.p);
    for (int k = 0; k < 3; k++) {
      uint64_t before = b.p.addresses[0];
      OK(placement_move(&b.p, &moved, &d));
      assert_int_equal(moved, all_bytes(b.w));
      assert_int_not_equal(b.p.addresses[0], before);
      runs_alike(&b, &v, want);
    }
    placement_release(&b.p);
    assert_in_range(free_megabytes(b.device), 56, 64);
    runs_alike(&b, &v, want);
  }
  launch_bytes_free(b.w, want);
  variant_close(&v);
  close_bed(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("after a move every plan computes the same", results_stay_the_same),
      BEHAVIOUR("tensor maps follow their buffers", tensor_maps_follow),
      BEHAVIOUR("a move changes addresses and nothing else", contents_go_along),
      BEHAVIOUR("fragmented memory serves as well, and is given back", fragmented_memory_serves_as_well),
      BEHAVIOUR("a buffer that has no room beside itself stays where it is", what_has_no_room_stays),
  };
  return cmocka_run_group_tests_name("launch.placement", tests, setup, scratch_teardown);
}
