/* Files of numbers as untrusted bytes: NumPy's arrays and text, into few elements of every type. */
#include "workload/fill.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 3) return 0;
  uint64_t room[16];
  hd_diag d;
  const wl_numbers to = {"fuzz", "a", (hd_elem)(data[0] % (HD_ELEM_F64 + 1)), data[1] % 16, room};
  const uint64_t column = data[2] % 4 ? data[2] % 4 - 1u : UINT64_MAX;
  wl_read_npy((const char *)data + 3, size - 3, &to, &d);
  wl_read_csv((const char *)data + 3, size - 3, column, &to, &d);
  return 0;
}
