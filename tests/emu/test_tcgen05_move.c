/* tcgen05: loads and stores of warps, copies from shared memory, shifts. */
#include "emu/tcgen05_run.h"

/* ---- Loads and stores ----------------------------------------------------------------------- */

typedef struct shape {
  const char *name;
  unsigned lanes, regs, most;
} shape;
static const shape shapes[] = {{"16x64b", 16, 1, 128},
                               {"16x128b", 16, 2, 64},
                               {"16x256b", 16, 4, 32},
                               {"32x32b", 32, 1, 128},
                               {"16x32bx2", 16, 1, 128}};
enum { SHAPES = sizeof shapes / sizeof *shapes, HALF = 200 };

/* Column and lane of a thread's register, as the PTX ISA's figures have them: 64 and 128 bits by threads of
 * four to a lane, 256 bits as the sums of m16n8. */
static void place(const shape *s, unsigned thread, unsigned reg, unsigned *lane, unsigned *column) {
  const unsigned quad = thread >> 2, in_quad = thread & 3;
  *lane = thread;
  *column = reg;
  if (strcmp(s->name, "16x64b") == 0) {
    *lane = quad + (in_quad & 1 ? 8 : 0);
    *column = 2 * reg + (in_quad >> 1);
  } else if (strcmp(s->name, "16x128b") == 0) {
    *lane = quad + (reg & 1 ? 8 : 0);
    *column = reg / 2 * 4 + in_quad;
  } else if (strcmp(s->name, "16x256b") == 0) {
    *lane = quad + (reg & 2 ? 8 : 0);
    *column = reg / 4 * 8 + 2 * in_quad + (reg & 1);
  } else if (strcmp(s->name, "16x32bx2") == 0) {
    *lane = thread & 15;
  }
}

/* Warp w stores thread * 1000 + register + w * 100000, then loads through the same shape, adds 7 and stores
 * that 32 registers further. `upper`: the upper 16 lanes. */
static void check_shape(const shape *s, unsigned num, bool packed, bool upper) {
  const unsigned n = num * s->regs;
  const bool split = strcmp(s->name, "16x32bx2") == 0;
  char half[16] = "";
  if (split) snprintf(half, sizeof half, ", %d", HALF);
  hd_buf op = {0}, regs = {0};
  for (unsigned k = 0; k < n; k++) hd_buf_printf(&regs, "%s%%v%u", k ? ", " : "", k);
  hd_buf_printf(&op,
                TC_EVERY "and.b32 %%r9, %%t, 96; shl.b32 %%r10, %%r9, 16; add.u32 %%r10, %%r10, %%base;\n"
                         "add.u32 %%r10, %%r10, %u; mul.lo.u32 %%r11, %%r9, 3125;\n"
                         "and.b32 %%r12, %%t, 31; mad.lo.u32 %%r11, %%r12, 1000, %%r11;\n",
                upper ? 16u << 16 : 0);
  for (unsigned k = 0; k < n; k++) hd_buf_printf(&op, "add.u32 %%v%u, %%r11, %u;\n", k, k);
  for (unsigned twice = 0; twice < 2; twice++) {
    hd_buf_printf(&op, "tcgen05.st.sync.aligned.%s.x%u%s.b32 [%%r10+%u]%s, {%s};\n", s->name, num,
                  packed ? ".unpack::16b" : "", twice ? 128 * (packed ? 2 : 1) : 0, half, regs.data);
    hd_buf_printf(&op, "tcgen05.wait::st.sync.aligned;\n");
    if (twice) break;
    for (unsigned k = 0; k < n; k++) hd_buf_printf(&op, "mov.u32 %%v%u, 0;\n", k);
    hd_buf_printf(&op, "tcgen05.ld.sync.aligned.%s.x%u%s.b32 {%s}, [%%r10]%s;\n", s->name, num,
                  packed ? ".pack::16b" : "", regs.data, half);
    hd_buf_printf(&op, "tcgen05.wait::ld.sync.aligned;\n");
    for (unsigned k = 0; k < n; k++) hd_buf_printf(&op, "add.u32 %%v%u, %%v%u, 7;\n", k, k);
  }
  tc_job *job = tc_job_make(1), *want = tc_job_make(1);
  for (unsigned twice = 0; twice < 2; twice++)
    for (unsigned t = 0; t < 128; t++)
      for (unsigned k = 0; k < n; k++) {
        unsigned lane, column;
        const uint32_t v = t / 32 * 100000 + t % 32 * 1000 + k + 7 * twice;
        place(s, t % 32, k, &lane, &column);
        lane += t / 32 * 32 + (upper ? 16 : 0);
        column = (packed ? 2 : 1) * (column + (twice ? 128 : 0)) + (split && t % 32 >= 16 ? HALF : 0);
        want->tensor[0][lane][column] = packed ? v & 0xffff : v;
        if (packed) want->tensor[0][lane][column + 1] = v >> 16;
      }
  tc_run(op.data, job, HD_ISA_AUTO);
  for (unsigned l = 0; l < TC_LANES; l++)
    for (unsigned k = 0; k < TC_COLUMNS; k++)
      if (job->tensor[0][l][k] != want->tensor[0][l][k])
        fail_msg("%s.x%u%s: lane %u, column %u: %x, not %x", s->name, num, packed ? " packed" : "", l, k,
                 job->tensor[0][l][k], want->tensor[0][l][k]);
  free(job);
  free(want);
  hd_buf_free(&op);
  hd_buf_free(&regs);
}

static void each_shape_places_registers_as_its_figure(void **state) {
  for (unsigned s = 0; s < SHAPES; s++) {
    check_shape(&shapes[s], 1, false, false);
    check_shape(&shapes[s], shapes[s].most / 4, false, shapes[s].lanes == 16);
    check_shape(&shapes[s], 2, true, false);
  }
}

/* ---- Copies --------------------------------------------------------------------------------- */

typedef struct copy {
  const char *form;
  unsigned rows, chunks; /* of 16 bytes */

  unsigned bits;
} copy;

/* Where row r lies: up to four lanes. */
static unsigned lanes_of(const copy *c, unsigned row, unsigned lanes[4]) {
  if (c->rows == 128) return lanes[0] = row, 1;
  if (c->rows == 4) return lanes[0] = 32 * row, 1;
  if (c->rows == 32) {
    for (unsigned k = 0; k < 4; k++) lanes[k] = 32 * k + row;
    return 4;
  }
  const bool near = strstr(c->form, "01_23") != NULL;
  lanes[0] = near ? row / 32 * 64 + row % 32 : row;
  lanes[1] = lanes[0] + (near ? 32 : 64);
  return 2;
}

static void check_copy(const copy *c, unsigned ctas, unsigned width) {
  char op[256];
  tc_job *job = tc_job_make(ctas), *want = tc_job_make(ctas);
  const unsigned first_lane = c->rows == 4 ? 31 : 0;
  const unsigned stride = width == 16 ? 128 : 8 * width, leading = 4096;
  for (unsigned cta = 0; cta < ctas; cta++)
    for (unsigned r = 0; r < c->rows; r++)
      for (unsigned k = 0; k < c->chunks; k++) {
        unsigned lanes[4],
            at = TC_FIRST + r / 8 * stride + r % 8 * width + (width == 16 ? k * leading : k * 16);
        at ^= (at >> 7 & (width / 16 - 1)) << 4;
        uint8_t *from = &job->shared[cta][at], to[16];
        for (unsigned b = 0; b < 16; b++) from[b] = (uint8_t)(cta * 111 + r * 7 + k * 31 + b * 3);
        memcpy(to, from, 16);
        for (unsigned e = 0; c->bits && e < 16; e++) {
          unsigned v = 0;
          for (unsigned b = 0; b < c->bits; b++)
            v |= (unsigned)(from[(e * c->bits + b) / 8] >> (e * c->bits + b) % 8 & 1) << b;
          to[e] = (uint8_t)(c->bits == 4 ? v << 2 : v);
        }
        const unsigned n = lanes_of(c, r, lanes);
        for (unsigned j = 0; j < n; j++)
          memcpy(&want->tensor[cta][first_lane + lanes[j]][100 + 4 * k], to, 16);
      }
  job->value[0] = tc_descriptor(TC_FIRST, leading, stride, width);
  snprintf(op, sizeof op, "add.u32 %%r9, %%base, %u; tcgen05.cp.cta_group::%u.%s [%%r9], %%x0;",
           first_lane << 16 | 100, ctas, c->form);
  tc_run(op, job, HD_ISA_AUTO);
  for (unsigned cta = 0; cta < ctas; cta++)
    for (unsigned l = 0; l < TC_LANES; l++)
      for (unsigned k = 0; k < TC_COLUMNS; k++)
        if (job->tensor[cta][l][k] != want->tensor[cta][l][k])
          fail_msg("%s: CTA %u, lane %u, column %u: %x, not %x", op, cta, l, k, job->tensor[cta][l][k],
                   want->tensor[cta][l][k]);
  free(job);
  free(want);
}

static void copies_come_to_their_lanes(void **state) {
  static const copy copies[] = {{.form = "128x256b", 128, 2},
                                {.form = "4x256b", 4, 2},
                                {.form = "128x128b", 128, 1},
                                {.form = "64x128b.warpx2::02_13", 64, 1},
                                {.form = "64x128b.warpx2::01_23", 64, 1},
                                {.form = "32x128b.warpx4", 32, 1},
                                {.form = "128x256b.b8x16.b4x16_p64", 128, 2, .bits = 4},
                                {.form = "32x128b.warpx4.b8x16.b6x16_p32", 32, 1, .bits = 6}};
  for (size_t k = 0; k < sizeof copies / sizeof *copies; k++) {
    check_copy(&copies[k], 1, 16);
    check_copy(&copies[k], 2, k % 2 ? 128 : 32);
  }
}

static void shifts_move_rows_to_the_lane_before(void **state) {
  tc_job *job = tc_job_make(1), *want = tc_job_make(1);
  for (unsigned l = 64; l < 95; l++)
    for (unsigned k = 40; k < 48; k++) want->tensor[0][l][k] = want->tensor[0][l + 1][k];
  tc_run("add.u32 %r9, %base, 0x400028; tcgen05.shift.cta_group::1.down [%r9];", job, HD_ISA_AUTO);
  assert_memory_equal(job->tensor[0], want->tensor[0], sizeof job->tensor[0]);
  free(job);
  free(want);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("each shape places registers as its figure does", each_shape_places_registers_as_its_figure),
      BEHAVIOUR("copies from shared memory come to their lanes", copies_come_to_their_lanes),
      BEHAVIOUR("shifts move rows to the lane before", shifts_move_rows_to_the_lane_before),
      BEHAVIOUR("ptxas takes the kernels", ptxas_takes_the_kernels),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
