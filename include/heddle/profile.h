/* heddle/profile.h: where a CUDA program's time goes, and how much of it plans could win.
 *
 * A program is run by hd_steer_watch. hd_suite_profile
 * reads that report, and looks at the launch that was recorded for each kernel: where its reuse lies, how
 * much of it the default order loses, and how much faster a plan could make it at most. */
#ifndef HEDDLE_PROFILE_H
#define HEDDLE_PROFILE_H

#include "heddle/advise.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hd_profile_kernel {
  char *name;
  uint64_t launches;
  double seconds; /* of all of them */
  char *why;      /* why heddle cannot touch it; NULL: it can */
  bool looked_at; /* what follows is known */
  unsigned category;
  double lost;  /* bytes moved to and from DRAM on the model, over those that the launch touches: above 1, the
                   default order loses reuse */
  double bound; /* the model's time over the least that it could be: that of the instructions, or of DRAM for
                   each byte once. A ceiling, and no prediction: no plan wins more, and most win less */
} hd_profile_kernel;

typedef struct hd_profile {
  hd_profile_kernel *kernels; /* by time */
  size_t n;
  double seconds; /* of all */
  bool emulated;  /* times of an emulated GPU, which say nothing about a GPU */
} hd_profile;

HD_OWN void hd_profile_free(hd_profile *p);
HD_OWN void hd_profile_text(const hd_profile *p, size_t rows, hd_buf *out);
HD_OWN void hd_profile_json(const hd_profile *p, hd_buf *out);
/* A page with a bar for each kernel's time, in the part that heddle can touch and the part that it cannot. */
HD_OWN void hd_profile_html(const hd_profile *p, const char *title, hd_buf *out);

#ifdef __cplusplus
}
#endif
#endif
