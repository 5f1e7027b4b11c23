/* cuda/core/findings.h: what was found, and its form for other programs. */
#ifndef HEDDLE_CUDA_CORE_FINDINGS_H
#define HEDDLE_CUDA_CORE_FINDINGS_H

#include "cuda/core/core.h"

typedef struct core_found_place {
  char *kernel, *file; /* of the CUDA source; NULL: the PTX does not say */
  uint32_t line, source;
} core_found_place;

typedef struct core_finding {
  core_finding_kind kind;
  char *text;
  uint64_t hash, times; /* of the text; how often it was found */
  core_found_place places[2];
  int n_places;
} core_finding;

/* "bounds", "race", ... */
const char *core_finding_name(core_finding_kind kind);
/* "places" of a finding, as a member of its object; nothing where there are none. */
void core_put_places(hd_buf *b, const core_finding *f);
/* All of them: an object a line, or SARIF 2.1.0 where the file's name ends in .sarif. */
void core_findings_print(const core_finding *all, size_t n, const char *path, hd_buf *out);

#endif
