/* bad CASE: what no driver takes. Prints what it answers; what heddle says stands in emu.t. */
#include "../driver/cu.h"

static const char *const store = PTX_HEAD ".visible .entry store(.param .u64 p) { ret; }\n";

/* A fatbin with one text: its head (magic, version, bytes of the head and of the rest), an entry's head (kind
 * 1, version, bytes of the head and of the text, architecture), the text. */
enum { HEAD = 16, ENTRY = 64, BIG = 1 << 30 };
typedef struct lies {
  uint64_t rest, text; /* beyond the truth */
  uint32_t entry;
} lies;

static size_t make_fatbin(char *out, lies l) {
  const uint64_t text = strlen(store) + 1, padded = (text + 7) / 8 * 8;
  const uint64_t rest = ENTRY + padded + l.rest, bytes = padded + l.text;
  const uint32_t magic = 0xBA55ED50, entry = ENTRY + l.entry, sm = 70;
  const uint16_t version = 1, head = HEAD, kind = 1, entry_version = 0x101;
  memset(out, 0, HEAD + ENTRY + padded);
  memcpy(out, &magic, 4);
  memcpy(out + 4, &version, 2);
  memcpy(out + 6, &head, 2);
  memcpy(out + 8, &rest, 8);
  memcpy(out + HEAD, &kind, 2);
  memcpy(out + HEAD + 2, &entry_version, 2);
  memcpy(out + HEAD + 4, &entry, 4);
  memcpy(out + HEAD + 8, &bytes, 8);
  memcpy(out + HEAD + 28, &sm, 4);
  memcpy(out + HEAD + ENTRY, store, text);
  return HEAD + ENTRY + padded;
}

static void report(const char *what, int result) {
  const char *name = "unknown";
  (void)!cuGetErrorName(result, &name);
  printf("%s: %s\n", what, name);
}

static void load(const char *what, const void *image) {
  cu_module module;
  report(what, cuModuleLoadData(&module, image));
}

static void missing_kernel(void) {
  cu_module module;
  cu_function f;
  load("the module", store);
  OK(cuModuleLoadData(&module, store));
  report("another kernel", cuModuleGetFunction(&f, module, "load"));
  report("the kernel", cuModuleGetFunction(&f, module, "store"));
}
static void newer(void) {
  load("PTX for a newer GPU",
       ".version 8.7\n.target sm_120\n.address_size 64\n.visible .entry store() { ret; }\n");
}
static void machine_code(void) { load("machine code", "\177ELF\2\1\1"); }
static void no_text(void) { load("no PTX", "This is no PTX.\n"); }
static void unfinished(void) {
  load("half a kernel", PTX_HEAD ".visible .entry store(.param .u64 p) { ret;");
}

static void from_library(const char *what, lies l) {
  static char image[4096];
  cu_function f;
  cu_library library;
  make_fatbin(image, l);
  int result = cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0);
  if (!result) result = cuLibraryGetKernel(&f, library, "store");
  report(what, result);
}
static void lying_library(void) {
  from_library("the truth", (lies){0});
  from_library("a text beyond its image", (lies){.text = 4096});
  from_library("a text beyond all memory", (lies){.text = UINT64_MAX - 8192});
  from_library("an entry's head beyond its image", (lies){.entry = BIG});
  from_library("an image beyond all memory", (lies){.rest = UINT64_MAX - 8192});
}
static void memory(void) {
  cu_address p;
  report("more than there is", cuMemAlloc_v2(&p, (size_t)1 << 41));
  report("all that can be said", cuMemAlloc_v2(&p, SIZE_MAX));
  report("nothing", cuMemAlloc_v2(&p, 0));
  report("a little", cuMemAlloc_v2(&p, 64));
}
/* What would be said at each of many calls. */
static void again(void) {
  cu_function f;
  cu_module module;
  cu_function none;
  int refused = 0, unknown = 0;
  OK(cuModuleLoadData(&module, store));
  OK(cuModuleGetFunction(&f, module, "store"));
  for (int k = 0; k < 1000; k++) refused += cuLaunchKernel(f, 0, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) != 0;
  for (int k = 0; k < 3; k++) unknown += cuModuleGetFunction(&none, module, "load") != 0;
  printf("%d launches refused, %d kernels unknown\n", refused, unknown);
}
static volatile uintptr_t nowhere = 8;
static void crash(void) { *(volatile int *)nowhere = 1; }

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(void);
  } cases[] = {{"missing_kernel", missing_kernel},
               {"newer", newer},
               {"machine_code", machine_code},
               {"no_text", no_text},
               {"unfinished", unfinished},
               {"lying_library", lying_library},
               {"memory", memory},
               {"again", again},
               {"crash", crash}};
  if (argc > 1 && strcmp(argv[1], "early_crash") == 0) crash();
  (void)begin();
  for (unsigned k = 0; argc > 1 && k < sizeof cases / sizeof *cases; k++)
    if (strcmp(argv[1], cases[k].name) == 0) cases[k].run();
  return 0;
}
