# The style sheet and the script of all pages are part of the library, as text.
heddle_text(PAGE_CSS ${HEDDLE_FLOOR}/page.css)
heddle_text(PAGE_JS ${HEDDLE_FLOOR}/page.js)
configure_file(${HEDDLE_FLOOR}/assets.c.in ${CMAKE_BINARY_DIR}/page_assets.c @ONLY)
target_sources(heddle_page PRIVATE ${CMAKE_BINARY_DIR}/page_assets.c)
