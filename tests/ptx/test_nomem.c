/* Memory that runs out in ptx/. */
#include "nomem.h"

#include "heddle/container.h"
#include "heddle/ptx.h"

static const char *const text =
    ".version 8.0\n.target sm_80\n.address_size 64\n.const .align 4 .b32 table[3] = {1, 2, 3};\n"
    ".func (.reg .b32 r) f(.reg .b32 a)\n{\nadd.u32 r, a, 1;\nret;\n}\n"
    ".visible .entry k(.param .u64 p)\n.maxntid 128, 1, 1\n{\n.reg .pred %p<9>;\n.reg .b32 %r<9>;\n.reg .b64 "
    "%rd<9>;\n"
    "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nL:\n{\n.reg .b32 x;\ncall (x), f, (%r1);\nmov.b32 %r1, "
    "x;\n}\n"
    "setp.lt.u32 %p1, %r1, 10;\n@%p1 bra L;\nst.global.v2.u32 [%rd1+8], {%r1, 7};\nret;\n}\n";

static hd_status parse(hd_arena *a, hd_ptx_module **m, hd_diag *d) {
  hd_arena_init(a);
  return hd_ptx_parse(text, strlen(text), "test", a, m, d);
}

static hd_status parse_and_print(void *ctx, hd_diag *d) {
  hd_arena a;
  hd_ptx_module *m;
  hd_buf out = {0};
  hd_status st = parse(&a, &m, d);
  if (st == HD_OK && (st = hd_ptx_print(m, &out)) != HD_OK) hd_nomem(d);
  hd_buf_free(&out);
  hd_arena_free(&a);
  return st;
}

static hd_status edit(void *ctx, hd_diag *d) {
  hd_arena a;
  hd_ptx_module *m;
  uint32_t form;
  hd_status st = parse(&a, &m, d);
  if (st == HD_OK) {
    uint32_t k = (uint32_t)hd_ptx_find_kernel(m, "k");
    st = hd_ptx_insert(m, k, 0, "{\n.reg .b32 y;\nmov.u32 y, %ctaid.x;\nadd.u32 y, y, 1;\n}\n", d);
    if (st == HD_OK) st = hd_ptx_add_params(m, k, "(.param .u64 more)", d);
    if (st == HD_OK) st = hd_ptx_insert_items(m, 0, ".global .b32 word;\n", d);
    if (st == HD_OK) st = hd_ptx_add_form(m, "ld.global.nc.v4.f32", &form, d);
    hd_sym label;
    if (st == HD_OK) st = hd_ptx_add_label(m, "M", 0, &label, d);
  }
  hd_arena_free(&a);
  return st;
}

static hd_status join(void *ctx, hd_diag *d) {
  static const char *const texts[] = {
      text,
      ".version 8.0\n.target sm_80\n.address_size 64\n.global .b32 own;\n.visible .entry other() { ret; }\n"};
  hd_buf out = {0};
  const hd_status st = hd_ptx_link(texts, 2, &out, d);
  hd_buf_free(&out);
  return st;
}

static hd_status container(void *ctx, hd_diag *d) {
  hd_container *c;
  hd_status st = hd_container_open_memory(text, strlen(text), "test.ptx", &c, d);
  if (st != HD_OK) return st;
  bool more = true;
  hd_ptx_text t;
  while (st == HD_OK && more) st = hd_container_next(c, &t, &more, d);
  hd_container_close(c);
  return st;
}

static void every_allocation_that_fails_is_said(void **state) {
  static const nomem_entry cases[] = {{"parse and print", parse_and_print, NULL, false},
                                      {"edit", edit, NULL, false},
                                      {"link", join, NULL, false},
                                      {"container", container, NULL, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) nomem_expect(&cases[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every allocation that fails is said", every_allocation_that_fails_is_said)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
