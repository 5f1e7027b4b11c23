/* report/words.h: the glossary's text, which docs/words.md has as a page. */
#ifndef HEDDLE_REPORT_WORDS_H
#define HEDDLE_REPORT_WORDS_H

extern const char words_text[];

#endif
