/* cli/bench_folder.h: where bench keeps its results: files that grow by lines, and files that are drawn from
 * them. */
#ifndef HEDDLE_CLI_BENCH_FOLDER_H
#define HEDDLE_CLI_BENCH_FOLDER_H

#include "cli.h"

enum { BENCH_PATH = 4096 };

const char *bench_path(const char *folder, const char *name, char out[BENCH_PATH]);
/* Make the folder; without `resume` it may not hold that file yet. */
hd_status bench_prepare(const char *folder, const char *results, bool resume, hd_diag *d);
/* Add to a file, and see that it is on the disk. */
hd_status bench_append(const char *folder, const char *name, const char *text, hd_diag *d);
hd_status bench_append_json(const char *folder, const char *name, json_t *line,
                            hd_diag *d); /* takes it over */
/* Call fn for each line of a file that is JSON, until it returns false. A file that was cut off within a line
 * is mended; one that is not there has none. */
hd_status bench_each_line(const char *folder, const char *name, bool (*fn)(void *ctx, const json_t *line),
                          void *ctx, hd_diag *d);
hd_status bench_write(const char *folder, const char *name, hd_buf *text, hd_diag *d); /* frees the text */
/* Add the command line to commands.txt, quoted. */
hd_status bench_record_command(const char *folder, int argc, char *const *argv, hd_diag *d);

#endif
