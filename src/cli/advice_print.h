/* cli/advice_print.h: advice as a page, as JSON, as a row of the table of categories. */
#ifndef HEDDLE_CLI_ADVICE_PRINT_H
#define HEDDLE_CLI_ADVICE_PRINT_H

#include "heddle/advise.h"
#include "model_common.h"

/* The page that a person reads in a minute; with `verbose` every array of every launch too. */
void advice_print(const model_session *s, const hd_advice *a, bool verbose, hd_buf *out);
/* Keys: category, evidence, direction, reuse, arrays, launches, order_free, refusals, proposals. NULL: out of
 * memory. */
json_t *advice_json(const model_session *s, const hd_advice *a);

#endif
