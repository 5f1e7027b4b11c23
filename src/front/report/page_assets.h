/* report/page_assets.h: the style and the script of a folder's page, which page/ has as files. */
#ifndef HEDDLE_REPORT_PAGE_ASSETS_H
#define HEDDLE_REPORT_PAGE_ASSETS_H

extern const char page_css[], page_js[];

#endif
