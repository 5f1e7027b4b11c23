/* Jumps in the place of functions. */
#include "cuda/loader/loader.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
/* jmp *0(%rip), and the address */
void loader_put_jump(uint64_t at, uint64_t to) {
  static const unsigned char code[] = {0xFF, 0x25, 0, 0, 0, 0};
  unsigned char *p = (unsigned char *)(uintptr_t)at;
  memcpy(p, code, sizeof code);
  memcpy(p + sizeof code, &to, sizeof to);
}

bool loader_is_empty(uint64_t at) {
  static const unsigned char landing[] = {0xF3, 0x0F, 0x1E, 0xFA}; /* endbr64 */
  const unsigned char *p = (const unsigned char *)(uintptr_t)at;
  return p[memcmp(p, landing, sizeof landing) == 0 ? sizeof landing : 0] == 0xC3;
}

/* jmp rel32 */
uint64_t loader_jump_at(uint64_t at) {
  const unsigned char *p = (const unsigned char *)(uintptr_t)at;
  int32_t distance;
  memcpy(&distance, p + 1, sizeof distance);
  return p[0] == 0xE9 ? at + 5 + (uint64_t)(int64_t)distance : 0;
}
#elif defined(__aarch64__)
/* ldr x16, .+8; br x16, and the address */
void loader_put_jump(uint64_t at, uint64_t to) {
  static const uint32_t code[] = {0x58000050, 0xD61F0200};
  unsigned char *p = (unsigned char *)(uintptr_t)at;
  memcpy(p, code, sizeof code);
  memcpy(p + sizeof code, &to, sizeof to);
}

bool loader_is_empty(uint64_t at) {
  uint32_t code[2];
  memcpy(code, (const void *)(uintptr_t)at, sizeof code);
  return code[code[0] == 0xD503245F] == 0xD65F03C0; /* bti c; ret */
}

/* b */
uint64_t loader_jump_at(uint64_t at) {
  uint32_t code;
  memcpy(&code, (const void *)(uintptr_t)at, sizeof code);
  return code >> 26 == 5 ? at + (uint64_t)((int64_t)((uint64_t)code << 38) >> 36) : 0;
}
#endif

bool loader_has_room(const Elf64_Sym *y) {
  const uint64_t next =
      (y->st_value + y->st_size + LOADER_FUNCTION_ALIGN - 1) / LOADER_FUNCTION_ALIGN * LOADER_FUNCTION_ALIGN;
  return next - y->st_value >= LOADER_JUMP_BYTES;
}

static bool protect(uint64_t at, uint64_t bytes, int how) {
  const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), start = at & ~(page - 1);
  return mprotect((void *)(uintptr_t)start, at + bytes - start, how) == 0;
}

bool loader_open_code(uint64_t at, uint64_t bytes) { return protect(at, bytes, PROT_READ | PROT_WRITE); }

void loader_close_code(uint64_t at, uint64_t bytes) {
  protect(at, bytes, PROT_READ | PROT_EXEC);
  __builtin___clear_cache((char *)(uintptr_t)at, (char *)(uintptr_t)(at + bytes));
}
