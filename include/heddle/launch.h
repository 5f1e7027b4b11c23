/* heddle/launch.h: running a workload on a device.
 *
 * Architecture: a workload is compiled for one architecture wherever it is traced, proved, timed or written
 * out, so that all of these speak of one text.
 */
#ifndef HEDDLE_LAUNCH_H
#define HEDDLE_LAUNCH_H

#include "heddle/device.h"
#include "heddle/workload.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Architecture -------------------------------------------------------------- */

/* The architecture (sm number) that kernels are compiled for where nobody asks for one. Every GPU from there
 * on runs that text, and one text for all of them is what lets traces, load numbers, proofs and verdicts be
 * carried from one to another. */
enum { HD_LAUNCH_ARCH = 80 };

/* The architecture to compile for: `asked`, unless 0; on a GPU that is older than HD_LAUNCH_ARCH its own, as
 * it runs nothing newer; else HD_LAUNCH_ARCH. A modelled GPU runs no text, and compilers no longer know the
 * old ones: it never decides. `dev` NULL: no device, or a model. */
HD_API unsigned hd_launch_arch(const hd_device_info *dev, unsigned asked);

#ifdef __cplusplus
}
#endif
#endif
