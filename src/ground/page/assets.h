/* page/assets.h: the style sheet and the script of all pages, which lie here as files. */
#ifndef HEDDLE_PAGE_ASSETS_H
#define HEDDLE_PAGE_ASSETS_H

extern const char page_css[], page_js[];

#endif
