#include <stdio.h>
#include <string.h>

#include "heddle/base.h"

__extension__ typedef unsigned __int128 u128;

hd_digest hd_digest_begin(void) { return (hd_digest){0x6c62272e07bb0142u, 0x62b821756295c58du}; }

static void mix(hd_digest *h, const unsigned char *s, size_t n) {
  const u128 prime = (u128)1 << 88 | 0x13b;
  u128 v = (u128)h->high << 64 | h->low;
  for (size_t i = 0; i < n; i++) v = (v ^ s[i]) * prime;
  *h = (hd_digest){(uint64_t)(v >> 64), (uint64_t)v};
}

void hd_digest_bytes(hd_digest *h, const void *p, size_t n) {
  uint64_t length = n;
  mix(h, (const unsigned char *)&length, sizeof length);
  mix(h, p, n);
}

void hd_digest_text(hd_digest *h, const char *s) { hd_digest_bytes(h, s, strlen(s)); }

const char *hd_digest_hex(const hd_digest *h, char out[HD_DIGEST_HEX]) {
  snprintf(out, HD_DIGEST_HEX, "%016llx%016llx", (unsigned long long)h->high, (unsigned long long)h->low);
  return out;
}
