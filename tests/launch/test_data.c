/* Kernels' inputs beside buffers: structs by value, variables of the module, cooperative launches. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "launch/placement.h"
#include "launch/resolved.h"
#include "workload/scratch.h"

static hd_diag d;
#define OK(call)                                                                                             \
  do {                                                                                                       \
    if ((call) != HD_OK) fail_msg("%s: %s", #call, d.message);                                               \
  } while (0)

static hd_workload *open_text(const char *toml, const char *ptx) {
  hd_workload *w;
  scratch_write("kernel.ptx", ptx);
  scratch_write("workload.toml", toml);
  OK(hd_workload_open(scratch_path("workload.toml"), NULL, NULL, &w, &d));
  return w;
}

/* The buffer's bytes after all launches: on the emulator under its checks, and on the device `emu`. */
static void *run_on(const hd_workload *w, bool device, uint32_t buffer) {
  hd_device *dev;
  placement p;
  variant v;
  void **all, *bytes = malloc(w->buffers[buffer].bytes);
  if (!device) {
    hd_check_result r;
    const hd_check_options o = {.run.machine.threads = 1, .seed = 3};
    hd_resolved plans = resolve_by_hand(w, "baseline");
    OK(hd_check_resolved(&plans, &o, &r, &d)); /* all dispatchers: no run sees what another left */
    if (!r.equal) fail_msg("%s", r.what);
    hd_resolved_free(&plans);
  }
  OK(hd_device_open("emu", &(hd_device_options){.emu = {.threads = 1}}, &dev, &d));
  OK(placement_open(&p, dev, w, &(hd_run_options){0}, &d));
  OK(variant_open(&v, &p, NULL, &d));
  for (int again = 0; again < 2; again++) { /* a second run begins like the first */
    OK(variant_run_once(&v, &d));
    OK(placement_read(&p, &all, &d));
    memcpy(bytes, all[buffer], w->buffers[buffer].bytes);
    launch_bytes_free(w, all);
  }
  variant_close(&v);
  placement_close(&p);
  hd_device_close(dev);
  return bytes;
}

#define PTX(body) ".version 7.8\n.target sm_80\n.address_size 64\n" body
#define REGS ".reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %d<16>; .reg .f32 %f<8>; .reg .b16 %h<4>;\n"
#define BUFFERS                                                                                              \
  "source = \"kernel.ptx\"\n[sizes.small]\nn = 32\n"                                                         \
  "[[buffer]]\nname = \"in\"\ntype = \"u32\"\ncount = \"n\"\nfill = \"iota\"\n"                              \
  "[[buffer]]\nname = \"out\"\ntype = \"u32\"\ncount = \"n\"\n"
#define LAUNCH "[[launch]]\nkernel = \"k\"\ngrid = [1]\nblock = [\"n\"]\n"

/* ---- Structs ----------------------------------------------------------------------------- */

/* struct { char tag; struct { float *to; short half; } inner[2]; double weights[2]; int n; } by value: 1 + 7
 * padding, 2 x 16, 16, 4 + 4. */
static void structs_are_laid_out_as_c_does_and_hold_pointers(void **state) {
  hd_workload *w = open_text(
      BUFFERS LAUNCH "args = [\"out\", { struct = [ { type = \"u8\", value = 200 }, "
                     "{ struct = [ \"in\", { type = \"u16\", value = 7 } ], repeat = 2 }, "
                     "{ type = \"f64\", values = [0.5, \"n\"] }, { type = \"s32\", value = \"-n\" } ] }]\n",
      PTX(".visible .entry k(.param .u64 out, .param .align 8 .b8 s[64])\n{\n" REGS ".reg .f64 %g<4>;\n"
          "ld.param.u64 %d1, [out];\nld.param.u8 %h1, [s];\nld.param.u64 %d2, [s+24];\nld.param.u16 %h2, "
          "[s+32];\n"
          "ld.param.f64 %g1, [s+48];\nld.param.s32 %r1, [s+56];\n"
          "mov.u32 %r2, %tid.x;\nmul.wide.u32 %d3, %r2, 4;\nadd.u64 %d4, %d2, %d3;\nld.global.u32 %r3, "
          "[%d4];\n"
          "cvt.u32.u16 %r4, %h1;\ncvt.u32.u16 %r5, %h2;\ncvt.rzi.s32.f64 %r6, %g1;\n"
          "mad.lo.u32 %r3, %r3, %r5, %r4;\nmul.lo.u32 %r6, %r6, 1000;\nadd.u32 %r3, %r3, %r6;\nadd.u32 %r3, "
          "%r3, %r1;\n"
          "add.u64 %d5, %d1, %d3;\nst.global.u32 [%d5], %r3;\nret;\n}\n"));
  for (int device = 0; device < 2; device++) {
    uint32_t *got = run_on(w, device, 1);
    for (uint32_t i = 0; i < 32; i++) assert_int_equal(got[i], i * 7 + 200 + 32000 - 32);
    free(got);
  }
  hd_workload_close(w);
}

static const struct {
  const char *text;
  uint64_t bytes;
  uint32_t n;
  uint64_t at[4]; /* of the first four fields */
} layouts[] = {
    {"{ struct = [ { type = \"u8\", value = 1 } ] }", 1, 1, {0}},
    {"{ struct = [ { type = \"u8\", value = 1 }, \"in\" ] }", 16, 2, {0, 8}},
    {"{ struct = [ \"in\", { type = \"u8\", value = 1 } ] }", 16, 2, {0, 8}},
    {"{ struct = [ { type = \"u8\", value = 1 }, { type = \"u16\", value = 1 }, { type = \"u8\", value = 1 } "
     "] }",
     6,
     3,
     {0, 2, 4}},
    {"{ struct = [ { type = \"f32\", value = 1, repeat = 3 }, { type = \"f64\", value = 1 } ] }",
     24,
     4,
     {0, 4, 8, 16}},
    {"{ struct = [ { type = \"f32\", value = 1 } ], align = 16 }", 16, 1, {0}},
    {"{ struct = [ { type = \"f32\", value = 1, at = 12 } ], bytes = 40 }", 40, 1, {12}},
    {"{ struct = [ { type = \"u8\", value = 1 }, { struct = [ { type = \"u16\", value = 1 }, { type = "
     "\"u8\", value = 1 } ], repeat = 2 } ] }",
     10,
     5,
     {0, 2, 4, 6}},
    {"{ struct = [ { type = \"u8\", value = 1 }, { struct = [ { type = \"u8\", value = 1 } ], align = 8 } ] "
     "}",
     16,
     2,
     {0, 8}},
    {"{ struct = [ { type = \"u8\", value = 1, at = 32763 } ] }", 32764, 1, {32763}},
    {"{ struct = [ { buffer = \"in\", offset = 3 }, { tensormap = \"in\", shape = [32], box = [4] } ] }",
     192,
     2,
     {0, 64}},
};

static void structs_have_the_layout_of_c(void **state) {
  for (size_t k = 0; k < sizeof layouts / sizeof *layouts; k++) {
    char toml[2048];
    snprintf(toml, sizeof toml, BUFFERS LAUNCH "args = [%s]\n", layouts[k].text);
    hd_workload *w = open_text(toml, "");
    const hd_wl_arg *a = &w->launches[0].args[0];
    if (a->bytes != layouts[k].bytes) fail_msg("%s: %d bytes", layouts[k].text, (int)a->bytes);
    assert_int_equal(a->n_fields, layouts[k].n);
    for (uint32_t i = 0; i < a->n_fields && i < 4; i++) assert_int_equal(a->fields[i].at, layouts[k].at[i]);
    hd_workload_close(w);
  }
}

/* More parameters than 4 KB. */
static void parameters_may_take_32764_bytes(void **state) {
  hd_workload *w =
      open_text(BUFFERS LAUNCH "args = [\"out\", { struct = [ { type = \"u32\", value = 5, repeat = 8000 }, "
                               "{ type = \"u32\", value = \"n\" } ], bytes = 32756 }]\n",
                PTX(".visible .entry k(.param .u64 out, .param .align 4 .b8 s[32756])\n{\n" REGS
                    "ld.param.u64 %d1, [out];\nmov.u32 %r2, %tid.x;\nld.param.u32 %r3, "
                    "[s+32000];\nld.param.u32 %r4, [s+31996];\n"
                    "mul.wide.u32 %d3, %r2, 4;\nadd.u64 %d5, %d1, %d3;\nmad.lo.u32 %r3, %r3, %r4, %r2;\n"
                    "st.global.u32 [%d5], %r3;\nret;\n}\n"));
  uint32_t *got = run_on(w, false, 1);
  for (uint32_t i = 0; i < 32; i++) assert_int_equal(got[i], 160 + i);
  free(got);
  hd_workload_close(w);
}

/* ---- Variables --------------------------------------------------------------------------------- */

#define STORE                                                                                                \
  "mov.u32 %r2, %tid.x;\nmul.wide.u32 %d3, %r2, 4;\nadd.u64 %d5, %d1, %d3;\nst.global.u32 [%d5], %r3;\n"

/* A constant filter, a device variable that counts on from what was given, one that begins as initialised,
 * and a result in a variable, read through a function. */
static const char variables_ptx[] = PTX(
    ".const .align 4 .b8 filter[16];\n.global .u32 counter;\n.global .u32 start = 40;\n.global .u32 tally;\n"
    ".global .u32 plain;\n"
    ".func (.param .b32 r) sum()\n{\n" REGS
    "ld.const.u32 %r1, [filter+4];\nld.const.u32 %r2, [filter+12];\nadd.u32 %r1, %r1, %r2;\n"
    "st.param.b32 [r], %r1;\nret;\n}\n"
    ".visible .entry k(.param .u64 out)\n{\n" REGS "ld.param.u64 %d1, [out];\nmov.u32 %r2, %tid.x;\n"
    "{ .param .b32 x;\ncall (x), sum, ();\nld.param.b32 %r4, [x]; }\n"
    "setp.ne.u32 %p1, %r2, 0;\n@%p1 bra REST;\n"
    "atom.global.add.u32 %r5, [counter], %r4;\natom.global.add.u32 %r6, [start], 1;\n"
    "atom.global.add.u32 %r7, [plain], 1;\n"
    "add.u32 %r5, %r5, %r6;\nadd.u32 %r5, %r5, %r7;\nst.global.u32 [tally], %r5;\n"
    "REST: mov.u32 %r3, %r4;\n" STORE "ret;\n}\n");
#define FILTER "[[variable]]\nname = \"filter\"\ntype = \"u32\"\ncount = 4\nfill = \"iota\"\n"
#define COUNTER "[[variable]]\nname = \"counter\"\ntype = \"u32\"\ncount = 1\nfill = \"value(1000)\"\n"
#define TALLY "[[variable]]\nname = \"tally\"\ntype = \"u32\"\ncount = 1\ncompare = \"exact\"\n"

static void variables_hold_what_the_workload_gives_them(void **state) {
  hd_workload *w = open_text(
      BUFFERS FILTER COUNTER TALLY LAUNCH "args = [\"out\"]\n" LAUNCH "args = [\"out\"]\n", variables_ptx);
  assert_int_equal(w->n_buffers, 5);
  assert_true(w->buffers[4].variable && strcmp(w->buffers[4].name, "tally") == 0);
  for (int device = 0; device < 2; device++) {
    uint32_t *got = run_on(w, device, 1), *tally = run_on(w, device, 4);
    for (uint32_t i = 0; i < 32; i++) assert_int_equal(got[i], 1 + 3);
    assert_int_equal(*tally, 1004 + 41 + 1); /* of the second launch */
    free(got);
    free(tally);
  }
  hd_workload_close(w);
}

static void a_variable_that_nothing_sets_is_refused_by_name(void **state) {
#define KERNEL(body)                                                                                         \
  ".visible .entry k(.param .u64 out)\n{\n" REGS "ld.param.u64 %d1, [out];\n" body STORE "ret;\n}\n"
  static const struct {
    const char *name, *variables, *ptx, *missing; /* NULL: all is well */
  } cases[] = {
      {"read by the kernel", "", PTX(".const .u32 c;\n" KERNEL("ld.const.u32 %r3, [c];\n")),
       "variable c of 4 bytes"},
      {"read through its address", "",
       PTX(".global .u32 g[8];\n" KERNEL("mov.u64 %d6, g;\nld.global.u32 %r3, [%d6+4];\n")),
       "variable g of 32 bytes"},
      {"read by a function", "",
       PTX(".const .u32 c;\n.func (.param .b32 r) f()\n{\n" REGS
           "ld.const.u32 %r1, [c];\nst.param.b32 [r], %r1;\nret;\n}\n" KERNEL(
               "{ .param .b32 x;\ncall (x), f, ();\nld.param.b32 %r3, [x]; }\n")),
       "variable c of 4 bytes"},
      {"behind a pointer of an initial value", "",
       PTX(".global .u32 g;\n.global .u64 p = generic(g);\n" KERNEL(
           "ld.global.u64 %d6, [p];\nld.u32 %r3, [%d6];\n")),
       "variable g of 4 bytes"},
      {"another kernel's", "",
       PTX(".const .u32 c;\n.visible .entry other()\n{\n" REGS
           "ld.const.u32 %r3, [c];\nret;\n}\n" KERNEL("mov.u32 %r3, 1;\n")),
       NULL},
      {"initialised", "", PTX(".const .u32 c = 0;\n" KERNEL("ld.const.u32 %r3, [c];\n")), NULL},
      {"set", "[[variable]]\nname = \"c\"\ntype = \"u32\"\ncount = 1\nfill = \"zero\"\n",
       PTX(".const .u32 c;\n" KERNEL("ld.const.u32 %r3, [c];\n")), NULL},
      {"counted up from zero", "", PTX(".global .u32 g;\n" KERNEL("atom.global.add.u32 %r3, [g], 0;\n")),
       NULL},
      {"set to more than it holds",
       "[[variable]]\nname = \"c\"\ntype = \"u32\"\ncount = 2\nfill = \"zero\"\n",
       PTX(".const .u32 c;\n" KERNEL("ld.const.u32 %r3, [c];\n")),
       "variable c has 4 bytes, the workload gives 8"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char toml[2048];
    hd_check_result r;
    snprintf(toml, sizeof toml, "%s%s%sargs = [\"out\"]\n", BUFFERS, cases[k].variables, LAUNCH);
    hd_workload *w = open_text(toml, cases[k].ptx);
    hd_resolved plans = resolve_by_hand(w, "baseline");
    memset(&d, 0, sizeof d);
    hd_status st = hd_check_resolved(&plans, &(hd_check_options){.run.machine.threads = 1}, &r, &d);
    if (!cases[k].missing && (st != HD_OK || !r.equal))
      fail_msg("%s: %s%s", cases[k].name, d.message, r.what);
    if (cases[k].missing && st != HD_ERR_INPUT) fail_msg("%s: not refused", cases[k].name);
    if (cases[k].missing && !strstr(d.message, cases[k].missing))
      fail_msg("%s: %s", cases[k].name, d.message);
    hd_resolved_free(&plans);
    hd_workload_close(w);
  }
}

/* ---- Cooperative launches ------------------------------------------------------------------------- */

/* As cooperative groups do it: CTA 0 adds what makes the top bit flip, the others 1. */
static const char cooperative_ptx[] = PTX(
    ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n" REGS
    "ld.param.u64 %d1, [in];\nld.param.u64 %d2, [out];\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %nctaid.x;\n"
    "mul.wide.u32 %d3, %r1, 4;\nadd.u64 %d3, %d2, %d3;\nst.global.u32 [%d3], %r1;\n"
    "mov.u32 %r3, %envreg1;\nmov.u32 %r4, %envreg2;\nmov.b64 %d4, {%r4, %r3};\n"
    "setp.eq.u32 %p1, %r1, 0;\nsub.u32 %r5, 0x80000001, %r2;\nselp.u32 %r5, %r5, 1, %p1;\n"
    "atom.add.release.gpu.u32 %r6, [%d4+4], %r5;\n"
    "W: ld.acquire.gpu.u32 %r7, [%d4+4];\nxor.b32 %r8, %r7, %r6;\nsetp.gt.s32 %p2, %r8, -1;\n@%p2 bra W;\n"
    "sub.u32 %r9, %r2, %r1;\nsub.u32 %r9, %r9, 1;\nmul.wide.u32 %d5, %r9, 4;\nadd.u64 %d6, %d2, %d5;\n"
    "ld.global.u32 %r10, [%d6];\nadd.u64 %d7, %d1, %d5;\nst.global.u32 [%d7], %r10;\nret;\n}\n");

static void cooperative_launches_wait_for_their_grid(void **state) {
  hd_workload *w =
      open_text(BUFFERS "[[launch]]\nkernel = \"k\"\ngrid = [\"n\"]\nblock = [1]\ncooperative = true\n"
                        "args = [\"in\", \"out\"]\n",
                cooperative_ptx);
  assert_true(w->launches[0].cooperative);
  for (int device = 0; device < 2; device++) {
    uint32_t *got = run_on(w, device, 0);
    for (uint32_t i = 0; i < 32; i++) assert_int_equal(got[i], i);
    free(got);
  }
  /* CTAs wait for each other there: nothing moves them. */
  static const char *const plans[] = {"order=reverse", "order=reverse,bind=agents:2", "order=band:4"};
  for (size_t k = 0; k < sizeof plans / sizeof *plans; k++) {
    hd_check_result r;
    hd_resolved resolved = resolve_by_hand(w, plans[k]);
    assert_int_equal(hd_check_resolved(&resolved, NULL, &r, &d), HD_ERR_REFUSED);
    if (!strstr(d.message, "envreg")) fail_msg("%s: %s", plans[k], d.message);
    hd_resolved_free(&resolved);
  }
  hd_workload_close(w);
}

/* ---- Textures and surfaces ---------------------------------------------------------------------------- */

/* Shifts an image by half a texel, by a texture whose handle stands in a struct, into a surface. */
static const char image_ptx[] =
    PTX(".visible .entry k(.param .align 8 .b8 s[16], .param .u64 to)\n{\n" REGS
        "ld.param.u64 %d1, [s+8];\nld.param.u64 %d2, [to];\n"
        "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\ncvt.rn.f32.u32 %f1, %r1;\ncvt.rn.f32.u32 %f2, %r2;\n"
        "add.f32 %f1, %f1, 0f3f800000;\nadd.f32 %f2, %f2, 0f3f000000;\n"
        "tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%d1, {%f1, %f2}];\n"
        "shl.b32 %r3, %r1, 2;\nsust.b.2d.b32.trap [%d2, {%r3, %r2}], {%f3};\nret;\n}\n");
static const char image_toml[] =
    "source = \"kernel.ptx\"\n[sizes.small]\nw = 32\nh = 6\n"
    "[[buffer]]\nname = \"in\"\ntype = \"f32\"\ncount = \"w * h\"\nfill = \"iota\"\n"
    "[[buffer]]\nname = \"out\"\ntype = \"f32\"\ncount = \"w * h\"\n"
    "[[texture]]\nname = \"t\"\nbuffer = \"in\"\nshape = [\"h\", \"w\"]\nfilter = \"linear\"\nwrap = "
    "\"clamp\"\n"
    "[[surface]]\nname = \"s\"\nbuffer = \"out\"\nshape = [\"h\", \"w\"]\n"
    "[[launch]]\nkernel = \"k\"\ngrid = [\"h\"]\nblock = [\"w\"]\nargs = [{ struct = [\"in\", \"t\"] }, "
    "\"s\"]\n";

static void textures_and_surfaces_are_given_to_kernels(void **state) {
  hd_workload *w = open_text(image_toml, image_ptx);
  assert_int_equal(w->n_images, 2);
  for (int device = 0; device < 2; device++) {
    float *got = run_on(w, device, 1);
    for (int y = 0; y < 6; y++)
      for (int x = 0; x < 32; x++) assert_true(got[32 * y + x] == (float)(32 * y + x) + (x < 31 ? 0.5f : 0));
    free(got);
  }
  /* Nothing of it depends on the order of CTAs. */
  hd_check_result r;
  hd_resolved plans = resolve_by_hand(w, "order=reverse");
  OK(hd_check_resolved(&plans, &(hd_check_options){.run.machine.threads = 1}, &r, &d));
  if (!r.equal) fail_msg("%s", r.what);
  hd_resolved_free(&plans);
  hd_workload_close(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("structs are laid out as C does and hold pointers",
                structs_are_laid_out_as_c_does_and_hold_pointers),
      BEHAVIOUR("structs have the layout of C", structs_have_the_layout_of_c),
      BEHAVIOUR("parameters may take 32,764 bytes", parameters_may_take_32764_bytes),
      BEHAVIOUR("variables hold what the workload gives them", variables_hold_what_the_workload_gives_them),
      BEHAVIOUR("a variable that nothing sets is refused by name",
                a_variable_that_nothing_sets_is_refused_by_name),
      BEHAVIOUR("cooperative launches wait for their grid", cooperative_launches_wait_for_their_grid),
      BEHAVIOUR("textures and surfaces are given to kernels", textures_and_surfaces_are_given_to_kernels),
  };
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
