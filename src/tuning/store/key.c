/* Keys of verdicts. This file needs neither the data base nor JSON: libheddle-run.so links it alone. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "heddle/store.h"

void hd_verdict_kernel(const char *text, size_t len, const char *kernel, char out[HD_DIGEST_HEX]) {
  hd_digest h = hd_digest_begin();
  hd_digest_bytes(&h, text, len);
  hd_digest_text(&h, kernel);
  hd_digest_hex(&h, out);
}

void hd_verdict_place(const char *gpu, uint32_t sms_of_part, uint32_t driver_version, hd_verdict_key *key) {
  if (sms_of_part)
    snprintf(key->gpu, sizeof key->gpu, "%.64s, %" PRIu32 " SMs", gpu, sms_of_part);
  else
    snprintf(key->gpu, sizeof key->gpu, "%.95s", gpu);
  snprintf(key->driver, sizeof key->driver, "%" PRIu32 ".%" PRIu32, driver_version / 1000,
           driver_version % 1000 / 10);
}

void hd_verdict_grid(const uint32_t grid[3], char out[192]) {
  snprintf(out, 192, "triton grid=%" PRIu32 "x%" PRIu32 "x%" PRIu32, grid[0], grid[1], grid[2]);
}

void hd_verdict_basis(hd_basis basis, uint32_t n, char out[48]) {
  static const char *const words[HD_BASES] = {[HD_BASIS_REPLAYS] = "replays of a model",
                                              [HD_BASIS_ROUNDS] = "rounds in one place",
                                              [HD_BASIS_PLACES] = "places in memory",
                                              [HD_BASIS_TRIALS] = "trials in a program",
                                              [HD_BASIS_TURNS] = "turns in a program"};
  out[0] = 0;
  if (basis == HD_BASIS_REPLAYS)
    snprintf(out, 48, "%s", words[basis]);
  else if (basis > HD_BASIS_UNKNOWN && basis < HD_BASES && n)
    snprintf(out, 48, "%" PRIu32 " %s", n, words[basis]);
}

void hd_verdict_launch(const uint32_t grid[3], const uint32_t block[3], uint32_t shared, const void *args,
                       size_t args_bytes, char out[192]) {
  char digest[HD_DIGEST_HEX] = "any";
  if (args) {
    hd_digest h = hd_digest_begin();
    hd_digest_bytes(&h, args, args_bytes);
    hd_digest_hex(&h, digest);
  }
  snprintf(out, 192,
           "grid=%" PRIu32 "x%" PRIu32 "x%" PRIu32 " block=%" PRIu32 "x%" PRIu32 "x%" PRIu32
           " shared=%" PRIu32 " args=%s",
           grid[0], grid[1], grid[2], block[0], block[1], block[2], shared, digest);
}

bool hd_verdict_launch_parse(const char *launch, uint32_t grid[3], uint32_t block[3], uint32_t *shared) {
  char args[HD_DIGEST_HEX];
  int end = 0;
  return sscanf(launch,
                "grid=%" SCNu32 "x%" SCNu32 "x%" SCNu32 " block=%" SCNu32 "x%" SCNu32 "x%" SCNu32
                " shared=%" SCNu32 " args=%32s%n",
                &grid[0], &grid[1], &grid[2], &block[0], &block[1], &block[2], shared, args, &end) == 8 &&
         !launch[end] && strcmp(args, "any") == 0;
}

bool hd_verdict_table_of(const char *plan, char out[HD_DIGEST_HEX]) {
  static const char mark[] = "order=table:#";
  for (const char *p = plan; (p = strstr(p, mark)); p++) {
    const char *name = p + sizeof mark - 1;
    size_t n = strspn(name, "0123456789abcdef");
    if ((p > plan && p[-1] != ',') || n != HD_DIGEST_HEX - 1 || (name[n] && name[n] != ',')) continue;
    memcpy(out, name, n);
    out[n] = 0;
    return true;
  }
  return false;
}
