/* emu/ops/matrix.c: mma, wmma, ldmatrix, stmatrix, movmatrix. All are gathers of a whole warp.
 *
 * A wmma fragment's layout is the implementation's own. Here a product of 16x16 is two m16n8 ones
 * side by side in n, one of 32x8 two m16n8 ones in m, and one of 8x32 the transpose of that: its
 * A is loaded as B and its B as A. An operand that is split is its halves' fragments one after
 * the other. Registers that PTX has beyond those (f16 A and B) repeat the first ones, so
 * element-wise code sees every element.
 */
#include "emu/ops/address.h"

/* ---- mma ------------------------------------------------------------------------------ */

static void read_fragment(char *r, const uint32_t *slots, unsigned n, unsigned slot_bytes, char *to) {
  for (unsigned k = 0; k < n; k++) memcpy(to + (size_t)k * slot_bytes, slot(r, slots[k]), slot_bytes);
}
static void write_fragment(char *r, const uint32_t *slots, unsigned n, unsigned slot_bytes, const char *from,
                           uint32_t mask) {
  for (unsigned k = 0; k < n; k++) {
    if (slot_bytes == 256)
      blend64(slot(r, slots[k]), from + (size_t)k * 256, mask);
    else
      blend32(slot(r, slots[k]), from + (size_t)k * 128, mask);
  }
}

typedef char fragment[EMU_FRAGMENT_REGS * 256] __attribute__((aligned(64)));

HANDLER(mma) {
  const emu_mma *x = i->extra;
  if (emu_skips_products(w)) return;
  const unsigned bytes = x->m.a == NUM_MMA_F64 ? 256 : 128;
  fragment a, b, c, d;
  read_fragment(r, x->a, x->m.a_regs, bytes, a);
  read_fragment(r, x->b, x->m.b_regs, bytes, b);
  read_fragment(r, x->c, x->m.c_regs, bytes, c);
  num_mma_run(&x->m, d, a, b, c);
  write_fragment(r, x->d, x->m.d_regs, bytes, d, mask);
}

HANDLER(mma_sparse) {
  const emu_mma *x = i->extra;
  if (emu_skips_products(w)) return;
  fragment a, b, c, d;
  read_fragment(r, x->a, x->m.a_regs, 128, a);
  read_fragment(r, x->b, x->m.b_regs, 128, b);
  read_fragment(r, x->c, x->m.c_regs, 128, c);
  num_sparse_run(&x->m, x->selector, d, a, b, c, slot(r, x->meta));
  write_fragment(r, x->d, x->m.d_regs, 128, d, mask);
}

/* The bytes and threads are the same in all lanes. */
HANDLER(mma_scaled) {
  const emu_mma *x = i->extra;
  const uint32_t slots[] = {x->byte_a, x->thread_a, x->byte_b, x->thread_b};
  uint32_t ids[4];
  if (emu_skips_products(w)) return;
  for (unsigned k = 0; k < 4; k++) {
    const uint32_t *id = slot(r, slots[k]);
    ids[k] = (uint16_t)id[0];
    for (unsigned l = 1; l < 32; l++)
      if ((uint16_t)id[l] != ids[k]) ids[k] = UINT32_MAX;
  }
  num_scaling s = x->scaling;
  s.byte_a = ids[0], s.thread_a = ids[1], s.byte_b = ids[2], s.thread_b = ids[3];
  if (!num_scaling_valid(&s)) {
    emu_fault(w, i, mask, HD_FAULT_OTHER,
              "its factors are in no bytes and threads, or not in the same for all");
    return;
  }
  fragment a, b, c, d;
  read_fragment(r, x->a, x->m.a_regs, 128, a);
  read_fragment(r, x->b, x->m.b_regs, 128, b);
  read_fragment(r, x->c, x->m.c_regs, 128, c);
  num_scaled_run(&x->m, &s, d, a, b, c, slot(r, x->scale_a), slot(r, x->scale_b));
  write_fragment(r, x->d, x->m.d_regs, 128, d, mask);
}

HANDLER(mma_quads) {
  const emu_mma *x = i->extra;
  if (emu_skips_products(w)) return;
  uint32_t a[2][32], b[2][32], c[8][32], d[8][32] __attribute__((aligned(64)));
  read_fragment(r, x->a, x->m.a_regs, 128, (char *)a);
  read_fragment(r, x->b, x->m.b_regs, 128, (char *)b);
  read_fragment(r, x->c, x->m.c_regs, 128, (char *)c);
  num_mma_quads(&x->quad, d, (const uint32_t(*)[32])a, (const uint32_t(*)[32])b, (const uint32_t(*)[32])c);
  write_fragment(r, x->d, x->m.d_regs, 128, (const char *)d, mask);
}

HANDLER(wmma_mma) {
  const emu_mma *x = i->extra;
  if (emu_skips_products(w)) return;
  for (unsigned half = 0; half < 2; half++) {
    fragment a, b, c, d;
    const unsigned in_m = x->split == 'm' ? half : 0, in_n = x->split == 'n' ? half : 0;
    read_fragment(r, x->a + (size_t)in_m * x->m.a_regs, x->m.a_regs, 128, a);
    read_fragment(r, x->b + (size_t)in_n * x->m.b_regs, x->m.b_regs, 128, b);
    read_fragment(r, x->c + (size_t)half * x->m.c_regs, x->m.c_regs, 128, c);
    num_mma_run(&x->m, d, a, b, c);
    write_fragment(r, x->d + (size_t)half * x->m.d_regs, x->m.d_regs, 128, d, mask);
  }
}

/* ---- wmma.load, wmma.store --------------------------------------------------------------- */

/* Whether the two mma products that make up the wmma each take one half of this operand. */
static bool is_split(const emu_wmma *x) { return x->which == 'c' || (x->which == 'a') == (x->split == 'm'); }
static unsigned regs_of_half(const emu_wmma *x) {
  return x->which == 'a' ? x->m.a_regs : x->which == 'b' ? x->m.b_regs : x->m.c_regs;
}

/* Where element `e` of each lane's fragment lies in memory. */
static void element_addresses(const emu_wmma *x, unsigned e, const uint64_t base[32], const uint32_t *stride,
                              uint64_t addr[32]) {
  const unsigned per_half = regs_of_half(x) * 4 / x->element; /* elements of one lane */
  const unsigned half = is_split(x) ? e / per_half : 0;
  for (unsigned l = 0; l < 32; l++) {
    unsigned row, col;
    num_mma_coord(&x->m, x->which, l, e % per_half, &row, &col);
    if (x->split == 'm')
      row += 16 * half;
    else
      col += 8 * half;
    const uint64_t pitch = stride ? stride[l] : x->pitch;
    addr[l] = base[l] + (x->column_major ? col * pitch + row : row * pitch + col) * x->element;
  }
}

/* Element e sits in register e * bytes / 4 from bit e * bytes % 4 * 8 on. */
HANDLER(wmma_load) {
  const emu_wmma *x = i->extra;
  const uint32_t *stride = x->stride_slot == EMU_NO_SLOT ? NULL : slot(r, x->stride_slot);
  const unsigned distinct = regs_of_half(x) * (is_split(x) ? 2 : 1); /* the other registers repeat them */
  uint64_t base[32], addr[32] __attribute__((aligned(64)));
  uint32_t regs[EMU_FRAGMENT_REGS][32] __attribute__((aligned(64))) = {0};
  addresses_of(r, i->mem.mode, i->src[0], i->imm, base);
  for (unsigned e = 0; e < distinct * 4 / x->element; e++) {
    element_addresses(x, e, base, stride, addr);
    emu_hosts h;
    const emu_locate how = {i->mem.space, x->element, x->element, i->mem.cache, HD_ACCESS_LOAD};
    if (!locate(w, i, mask, addr, &how, &h)) return;
    const unsigned at = e * x->element;
    FOR_LANES(l, mask)
    memcpy((char *)&regs[at / 4][l] + at % 4, (const void *)(uintptr_t)h.at[l], x->element);
  }
  for (unsigned k = 0; k < x->n_regs; k++) blend32(slot(r, x->slot[k]), regs[k % distinct], mask);
}
HANDLER(wmma_store) {
  const emu_wmma *x = i->extra;
  const uint32_t *stride = x->stride_slot == EMU_NO_SLOT ? NULL : slot(r, x->stride_slot);
  uint64_t base[32], addr[32] __attribute__((aligned(64)));
  addresses_of(r, i->mem.mode, i->src[0], i->imm, base);
  for (unsigned e = 0; e < x->n_regs * 4u / x->element; e++) {
    element_addresses(x, e, base, stride, addr);
    emu_hosts h;
    const emu_locate how = {i->mem.space, x->element, x->element, i->mem.cache, HD_ACCESS_STORE};
    if (!locate(w, i, mask, addr, &how, &h)) return;
    const unsigned at = e * x->element;
    const uint32_t *reg = slot(r, x->slot[at / 4]);
    FOR_LANES(l, mask) memcpy((void *)(uintptr_t)h.at[l], (const char *)&reg[l] + at % 4, x->element);
  }
}

/* ---- ldmatrix, stmatrix, movmatrix ---------------------------------------------------------- */

/* Rows are 16 bytes, of which 16 elements of 6 or 4 bits have the first 12 or 8: the others are padding,
 * which no instruction reads. */
INLINE unsigned row_bytes(const emu_inst *i) { return i->mem.type ? 2u * i->mem.type : 16; }

/* The first `n` lanes give the rows' addresses: lane 8*k + j that of row j of matrix k, or of matrices of 16
 * rows 16*k + j; a matrix's register is extra[k]. */
INLINE bool find_rows(emu_warp *w, const emu_inst *i, char *r, uint32_t mask, hd_access_kind kind, unsigned n,
                      emu_hosts *h) {
  uint64_t addr[32] __attribute__((aligned(64)));
  const uint32_t rows = (uint32_t)((UINT64_C(1) << n) - 1);
  addresses_of(r, i->mem.mode, i->src[0], i->imm, addr);
  if ((mask & rows) != rows) {
    emu_fault(w, i, mask, HD_FAULT_OTHER, "not all threads that give a row's address take part");
    return false;
  }
  return locate(w, i, rows, addr, &(const emu_locate){i->mem.space, row_bytes(i), 16, i->mem.cache, kind}, h);
}

HANDLER(ldmatrix) {
  emu_hosts h;
  if (!find_rows(w, i, r, mask, HD_ACCESS_LOAD, 8u * i->mem.count, &h)) return;
  const uint32_t *slots = i->extra;
  for (unsigned k = 0; k < i->mem.count; k++) {
    const uint8_t *row[8];
    uint32_t part[32] __attribute__((aligned(64)));
    for (unsigned j = 0; j < 8; j++) row[j] = (const uint8_t *)(uintptr_t)h.at[8 * k + j];
    num_ldmatrix(row, i->mem.transposed, part);
    if (slots[k] != EMU_NO_SLOT) blend32(slot(r, slots[k]), part, mask);
  }
}
/* The check of races compares the rows with what they meet: warps may hold copies of a matrix and all store
 * it. */
HANDLER(stmatrix) {
  emu_hosts h;
  char rows[32][16];
  const uint32_t *slots = i->extra;
  for (unsigned k = 0; k < i->mem.count; k++) {
    uint8_t *row[8];
    for (unsigned j = 0; j < 8; j++) row[j] = (uint8_t *)rows[8 * k + j];
    num_stmatrix(row, i->mem.transposed, slot(r, slots[k]));
  }
  w->storing = rows[0];
  const bool found = find_rows(w, i, r, mask, HD_ACCESS_STORE, 8u * i->mem.count, &h);
  w->storing = NULL;
  for (unsigned l = 0; found && l < 8 * i->mem.count; l++)
    memcpy((char *)(uintptr_t)h.at[l], rows[l], sizeof rows[l]);
}

/* Rows of 16 elements of 8 bits, or of 6 or 4 bits packed at the row's beginning, which go to the low bits of
 * 8. A register has 4 elements. */
static void widen_row(const void *from, unsigned bits, uint8_t to[16]) {
  uint64_t words[2] = {0, 0};
  memcpy(words, from, (size_t)2 * bits);
  for (unsigned e = 0; e < 16; e++) {
    const unsigned at = e * bits;
    uint64_t v = words[at / 64] >> at % 64;
    if (at / 64 == 0 && at % 64 + bits > 64) v |= words[1] << (64 - at);
    to[e] = (uint8_t)(v & ((1u << bits) - 1));
  }
}

/* Matrices of 8 rows: a lane has four neighbours of a row, as with .b16 two. */
HANDLER(ldmatrix_m8n16) {
  emu_hosts h;
  if (!find_rows(w, i, r, mask, HD_ACCESS_LOAD, 8u * i->mem.count, &h)) return;
  const uint32_t *slots = i->extra;
  for (unsigned k = 0; k < i->mem.count; k++) {
    uint32_t part[32] __attribute__((aligned(64)));
    for (unsigned j = 0; j < 8; j++) {
      uint8_t row[16];
      widen_row((const void *)(uintptr_t)h.at[8 * k + j], i->mem.type, row);
      memcpy(&part[(size_t)4 * j], row, sizeof row);
    }
    if (slots[k] != EMU_NO_SLOT) blend32(slot(r, slots[k]), part, mask);
  }
}

/* Where the byte of a transposed matrix is in memory: byte b of register k of lane l. What mma has of columns
 * 2*(l % 4) and the next one, in rows l/4 and l/4 + 8, becomes rows. */
INLINE unsigned row_of_byte(unsigned l, unsigned b) { return 2 * (l % 4) + b % 2; }
INLINE unsigned column_of_byte(unsigned l, unsigned b) { return l / 4 + 8 * (b / 2); }

/* Matrices of 16 rows, two registers each: of each four rows the first has the first two. */
HANDLER(ldmatrix_m16n16) {
  emu_hosts h;
  if (!find_rows(w, i, r, mask, HD_ACCESS_LOAD, 16u * i->mem.count, &h)) return;
  const uint32_t *slots = i->extra;
  for (unsigned k = 0; k < 2u * i->mem.count; k++) {
    uint8_t matrix[16][16];
    uint32_t part[32] __attribute__((aligned(64)));
    for (unsigned j = 0; j < 16; j++)
      widen_row((const void *)(uintptr_t)h.at[16 * (k / 2) + j], i->mem.type, matrix[j]);
    for (unsigned l = 0; l < 32; l++) {
      part[l] = 0;
      for (unsigned b = 0; b < 4; b++)
        part[l] |= (uint32_t)matrix[4 * (l % 4) + 2 * (k % 2) + b % 2][column_of_byte(l, b)] << 8 * b;
    }
    if (slots[k] != EMU_NO_SLOT) blend32(slot(r, slots[k]), part, mask);
  }
}

HANDLER(stmatrix_m16n8) {
  emu_hosts h;
  uint8_t rows[32][16];
  const uint32_t *slots = i->extra;
  for (unsigned k = 0; k < i->mem.count; k++) {
    const uint32_t *reg = slot(r, slots[k]);
    for (unsigned l = 0; l < 32; l++)
      for (unsigned b = 0; b < 4; b++)
        rows[8 * k + row_of_byte(l, b)][column_of_byte(l, b)] = (uint8_t)(reg[l] >> 8 * b);
  }
  w->storing = (const char *)rows[0];
  const bool found = find_rows(w, i, r, mask, HD_ACCESS_STORE, 8u * i->mem.count, &h);
  w->storing = NULL;
  for (unsigned l = 0; found && l < 8u * i->mem.count; l++)
    memcpy((char *)(uintptr_t)h.at[l], rows[l], sizeof rows[l]);
}

HANDLER(movmatrix) {
  uint32_t in[32], out[32] __attribute__((aligned(64)));
  memcpy(in, slot(r, i->src[0]), sizeof in);
  num_movmatrix_trans(in, out);
  blend32(slot(r, i->dst), out, mask);
}

const emu_op EMU_OPS(matrix)[] = {{"mma", "", mma},
                                  {"mma.sp", "", mma_sparse},
                                  {"mma.scaled", "", mma_scaled},
                                  {"mma.quads", "", mma_quads},
                                  {"wmma.mma", "", wmma_mma},
                                  {"wmma.load", "", wmma_load},
                                  {"wmma.store", "", wmma_store},
                                  {"ldmatrix", "", ldmatrix},
                                  {"ldmatrix.m8n16", "", ldmatrix_m8n16},
                                  {"ldmatrix.m16n16", "", ldmatrix_m16n16},
                                  {"stmatrix", "", stmatrix},
                                  {"stmatrix.m16n8", "", stmatrix_m16n8},
                                  {"movmatrix", "", movmatrix},
                                  {0}};
