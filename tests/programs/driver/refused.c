/* Images and requests that cannot be met: what a driver answers, and the one line that heddle says of each.
 */
// check: none
#include "cu.h"

static const char *const newer =
    ".version 8.8\n.target sm_121\n.address_size 64\n.visible .entry k() { ret; }\n";
static const char *const good = PTX_HEAD ".visible .entry k() { ret; }\n";

int main(void) {
  cu_function function;
  cu_module module;
  cu_address p;
  size_t left, total;
  begin();
  OK(cuModuleLoadData(&module, good));
  OK(cuModuleGetFunction(&function, module, "k"));
  EXPECT(cuModuleGetFunction(&function, module, "missing"), 500);
  CHECK(cuModuleLoadData(&module, newer) != 0);
  CHECK(cuModuleLoadData(&module, "This is no PTX.\n") != 0);
  OK(cuMemGetInfo_v2(&left, &total));
  CHECK(left <= total);
  EXPECT(cuMemAlloc_v2(&p, 2 * total), 2);
  EXPECT(cuMemAlloc_v2(&p, 0), 1);
  OK(cuMemAlloc_v2(&p, 1));
  puts("refused: as a driver does");
  return 0;
}
