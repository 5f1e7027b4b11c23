/* Images whose sizes are not true, and memory that ends: a GPU's driver crashes over the first, and shares
 * the second with other programs. */
// check: none
#include <stdint.h>
#include <sys/mman.h>

#include "cu.h"

static const char *const good = PTX_HEAD ".visible .entry k() { ret; }\n";

/* The head of a fatbin and of one entry in it, as nvcc writes them. */
typedef struct fatbin {
  uint32_t magic;
  uint16_t version, head;
  uint64_t bytes;
  uint16_t kind, entry_version; /* 1: PTX */
  uint32_t entry_head;
  uint64_t entry_bytes;
  uint32_t rest[16];
  char text[256];
} fatbin;

static fatbin make(uint64_t bytes, uint64_t entry_bytes) {
  fatbin f = {.magic = 0xBA55ED50u,
              .version = 1,
              .head = 16,
              .bytes = bytes,
              .kind = 1,
              .entry_version = 0x101,
              .entry_head = 80,
              .entry_bytes = entry_bytes};
  f.rest[3] = 90; /* its architecture */
  snprintf(f.text, sizeof f.text, "%s", good);
  return f;
}

/* At the end of a page, with nothing mapped behind it. */
static void *at_an_end(const fatbin *f) {
  char *pages = mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(pages != MAP_FAILED && munmap(pages + 4096, 4096) == 0);
  return memcpy(pages + 4096 - sizeof *f, f, sizeof *f);
}

int main(void) {
  cu_function function;
  cu_module module;
  cu_address p;
  size_t left, total;
  begin();
  const uint64_t entry = sizeof(fatbin) - 16;
  fatbin f = make(entry, 256);
  OK(cuModuleLoadData(&module, &f));
  OK(cuModuleGetFunction(&function, module, "k"));
  /* Sizes that are not true: of the whole, of the entry, of both. */
  static const uint64_t lies[] = {0, 1, 79, 100000, UINT32_MAX, UINT64_MAX - 15, UINT64_MAX};
  for (unsigned k = 0; k < sizeof lies / sizeof *lies; k++) {
    f = make(lies[k], 256);
    if (lies[k] < 80 || lies[k] > 4096) CHECK(cuModuleLoadData(&module, at_an_end(&f)) != 0);
    f = make(entry, lies[k]);
    if (lies[k] > 4096) CHECK(cuModuleLoadData(&module, at_an_end(&f)) != 0);
    f = make(lies[k], lies[k]);
    CHECK(cuModuleLoadData(&module, at_an_end(&f)) != 0);
  }
  OK(cuMemGetInfo_v2(&left, &total));
  EXPECT(cuMemAlloc_v2(&p, left + 1), 2);
  OK(cuMemAlloc_v2(&p, left));
  EXPECT(cuMemAlloc_v2(&p, 1), 2);
  puts("lies: refused");
  return 0;
}
