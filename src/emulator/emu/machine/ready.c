/* emu/machine/ready.c: CHECK_INIT: whether memory was written that is read, and what copies in flight still
 * read and write (async.h). */
#include "emu/machine/ready.h"

#include "emu/machine/async.h"
#include "emu/machine/grid.h"

#include <inttypes.h>

const char *emu_access_word(hd_access_kind kind) {
  static const char *const words[] = {"load", "store", "atomic", "prefetch"};
  return words[kind];
}

#define UNWRITTEN "%s of %u bytes at %s 0x%" PRIx64 " reads memory that was never written"

/* False: it is a fault. */
static bool init_fault(emu_warp *w, const emu_cta *c, const emu_inst *i, unsigned lane, uint64_t address,
                       unsigned bytes, hd_access_kind kind, hd_space space) {
  const char *where = space == HD_SPACE_SHARED ? "shared offset" : "address";
  const hd_fault unwritten = space == HD_SPACE_SHARED ? HD_FAULT_UNWRITTEN_SHARED : HD_FAULT_UNWRITTEN;
  uint64_t bar;
  const uint32_t line = space == HD_SPACE_SHARED ? emu_bulk_writer(c, address, bytes, &bar) : 0;
  const uint32_t copy = space == HD_SPACE_SHARED ? emu_copy_writer(c, address, bytes) : 0;
  if (copy)
    emu_fault(w, i, 1u << lane, HD_FAULT_OTHER,
              "%s of %u bytes at shared offset 0x%" PRIx64
              " reads what the cp.async at line %u still writes: its "
              "thread has not waited for it",
              emu_access_word(kind), bytes, address, copy);
  else if (line)
    emu_fault(w, i, 1u << lane, HD_FAULT_OTHER,
              "%s of %u bytes at shared offset 0x%" PRIx64
              " reads what the bulk copy at line %u still writes: "
              "the phase of its mbarrier at shared offset 0x%" PRIx64 " is not complete",
              emu_access_word(kind), bytes, address, line, bar);
  else if (c->grid->unwritten)
    emu_stray_note(w, i, 1u << lane, unwritten, UNWRITTEN, emu_access_word(kind), bytes, where, address);
  else
    emu_fault(w, i, 1u << lane, unwritten, UNWRITTEN, emu_access_word(kind), bytes, where, address);
  return !copy && !line && c->grid->unwritten;
}

/* The bytes at a shared offset, not all of them written, are about to be stored to: false if a copy in flight
 * writes some of them. */
static bool check_landing(emu_warp *w, const emu_cta *c, const emu_inst *i, unsigned lane, uint64_t offset,
                          unsigned bytes) {
  uint64_t bar;
  const uint32_t copy = c->async.copies ? emu_copy_writer(c, offset, bytes) : 0;
  const uint32_t bulk = !copy && c->async.landings.n ? emu_bulk_writer(c, offset, bytes, &bar) : 0;
  if (!copy && !bulk) return true;
  emu_fault(w, i, 1u << lane, HD_FAULT_OTHER,
            "store of %u bytes at shared offset 0x%" PRIx64 " meets what the %s at line %u still writes: %s",
            bytes, offset, copy ? "cp.async" : "bulk copy", copy ? copy : bulk,
            copy ? "its thread has not waited for it" : "the phase of its mbarrier is not complete");
  return false;
}

bool emu_check_init(emu_warp *w, emu_cta *c, const emu_inst *i, uint32_t mask, const uint64_t addr[32],
                    unsigned bytes, hd_access_kind kind, hd_space space, uint8_t *shadow, uint64_t base) {
  if (kind != HD_ACCESS_STORE)
    for (uint32_t left = mask; left; left &= left - 1) {
      unsigned l = (unsigned)__builtin_ctz(left);
      if (!emu_init_check(shadow + (addr[l] - base), bytes))
        if (!init_fault(w, c, i, l, space == HD_SPACE_SHARED ? addr[l] - base : addr[l], bytes, kind, space))
          return false;
    }
  if (kind == HD_ACCESS_STORE && space == HD_SPACE_SHARED && (c->async.copies || c->async.landings.n))
    for (uint32_t left = mask; left; left &= left - 1) {
      const unsigned l = (unsigned)__builtin_ctz(left);
      if (!emu_init_check(shadow + (addr[l] - base), bytes) &&
          !check_landing(w, c, i, l, addr[l] - base, bytes))
        return false;
    }
  if (kind != HD_ACCESS_LOAD && space == HD_SPACE_SHARED && c->async.readings.n)
    for (uint32_t left = mask; left; left &= left - 1) {
      unsigned l = (unsigned)__builtin_ctz(left);
      const uint32_t line = emu_bulk_reader(c, addr[l] - base, bytes);
      if (!line) continue;
      emu_fault(w, i, 1u << l, HD_FAULT_OTHER,
                "%s of %u bytes at shared offset 0x%" PRIx64
                " overwrites what the bulk copy at line %u still "
                "reads: its thread has not waited for its group",
                emu_access_word(kind), bytes, addr[l] - base, line);
      return false;
    }
  uint64_t fresh = 0;
  if (kind != HD_ACCESS_LOAD)
    for (uint32_t left = mask; left; left &= left - 1)
      fresh += emu_init_set(shadow + (addr[(unsigned)__builtin_ctz(left)] - base), bytes);
  if (space == HD_SPACE_SHARED) c->shared_unwritten -= fresh;
  return true;
}

bool emu_check_written_out(emu_warp *w, const emu_cta *c, const emu_inst *i, uint32_t mask,
                           const uint64_t addr[32], unsigned bytes, hd_access_kind kind) {
  if (((const emu_mwarp *)w)->copies_async) return true;
  for (uint32_t left = mask; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctz(left);
    const uint32_t line = emu_bulk_out_writer(c, addr[l], bytes, kind == HD_ACCESS_ATOMIC);
    if (!line) continue;
    emu_fault(w, i, 1u << l, HD_FAULT_OTHER,
              "%s of %u bytes at 0x%" PRIx64
              " meets what the bulk copy at line %u still writes: its thread has not waited for its group",
              emu_access_word(kind), bytes, addr[l], line);
    return false;
  }
  return true;
}

void emu_check_local(emu_warp *w, const emu_inst *i, uint32_t mask, const uint64_t addr[32], unsigned bytes,
                     hd_access_kind kind, uint64_t base) {
  for (uint32_t left = mask; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctz(left);
    uint8_t *s = emu_local_shadow((const emu_mwarp *)w, l, addr[l] - base);
    if (kind != HD_ACCESS_STORE && !emu_init_check(s, bytes))
      emu_stray_note(w, i, 1u << l, HD_FAULT_UNWRITTEN, UNWRITTEN, emu_access_word(kind), bytes,
                     "local offset", addr[l] - base);
    if (kind != HD_ACCESS_LOAD) emu_init_set(s, bytes);
  }
}
