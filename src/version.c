#include "heddle/base.h"

HD_API const char *hd_version(void);
const char *hd_version(void) { return "0.1.0"; }
