# The glossary is part of the library, as text.
heddle_text(WORDS ${CMAKE_SOURCE_DIR}/docs/words.md)
configure_file(${HEDDLE_FLOOR}/words_text.c.in ${CMAKE_BINARY_DIR}/report_words_text.c @ONLY)
target_sources(heddle_report PRIVATE ${CMAKE_BINARY_DIR}/report_words_text.c)
