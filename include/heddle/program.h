/* heddle/program.h: runs a CUDA program on the emulator, with heddle's libraries in front of it.
 *
 * `heddle emu` starts a program whose CUDA calls heddle serves: a library that is loaded first takes the
 * place of the CUDA driver and of the CUDA runtime, the shared one and the one linked into the program. It
 * reads its settings from the environment, so that processes started by the program use them, too. */
#ifndef HEDDLE_PROGRAM_H
#define HEDDLE_PROGRAM_H

#include "heddle/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hd_program_check {                               /* bits */
                                HD_PROGRAM_CHECK_INIT = 1,    /* kernels that read memory never written */
                                HD_PROGRAM_CHECK_RACE = 2,    /* races between CTAs and in shared memory */
                                HD_PROGRAM_CHECK_LEAK = 4,    /* memory of the device that is never freed */
                                HD_PROGRAM_CHECK_STREAMS = 8, /* unordered operations on the same memory */
                                HD_PROGRAM_CHECK_ALL = 15,
} hd_program_check;
/* "init,race,leak,streams" or "all", as "" is; false: an unknown word. */
HD_OWN bool hd_program_check_parse(const char *text, unsigned *out);

enum { HD_PROGRAM_PATH = 1024 };

typedef struct hd_program_settings {
  /* The modelled GPU; sizes in bytes. heddle/model.h describes the fields. */
  char gpu[96]; /* its title */
  uint64_t arch, n_sms, max_ctas, max_warps, max_threads, registers, register_unit;
  uint64_t shared_bytes, shared_unit, shared_reserved, l2_bytes, clock_khz;
  uint64_t newest;  /* PTX for architectures up to this one is run, whatever the GPU's */
  uint64_t devices; /* how many of them */
  uint64_t memory;  /* bytes of each */
  uint64_t threads; /* host threads that emulate; 0: all */
  uint64_t checks;  /* hd_program_check bits */
  uint64_t seed;    /* 0: operations run as they are submitted */
  bool quiet;       /* no report, but findings */
  bool analyze;     /* each kernel's locality in the report */
  uint64_t
      work; /* thread instructions after which launches end with CUDA_ERROR_LAUNCH_TIMEOUT; 0: no bound */
  /* Milliseconds of processor time: a program that has launched a kernel, and computes for so long without a
   * call, ends as by exit(0); 0: no bound. */
  uint64_t alone;
  uint64_t error_code;       /* exit code where anything is found; 0: the program's own */
  char kernel[256];          /* findings are of kernels that this means (hd_kernel_matches); "": of all */
  char log[HD_PROGRAM_PATH]; /* file that lines are appended to; "": standard error */
  char findings[HD_PROGRAM_PATH]; /* file for findings alone; "": none */
  uint64_t pid;                   /* of the program; other processes are its children */
  char report[HD_PROGRAM_PATH];   /* file for the report as JSON; "": text on standard error */
} hd_program_settings;

/* Settings as text for the environment, and back. A text that another version wrote is HD_ERR_INPUT. */
HD_OWN hd_status hd_program_settings_print(const hd_program_settings *s, hd_buf *out, hd_diag *d);
HD_OWN hd_status hd_program_settings_parse(const char *text, hd_program_settings *s, hd_diag *d);
/* The variable that holds them. */
#define HD_PROGRAM_VARIABLE "HEDDLE_EMU"

typedef struct hd_program_options {
  const char *gpu, *gpu_dir; /* of hd_gpu_load; NULL: h100, which then takes PTX for newer GPUs, too */
  const char *memory;        /* "40G"; NULL: the default, 80 GB */
  const char *checks;        /* of hd_program_check_parse; NULL: none */
  const char *report;        /* a file in a folder that is there; NULL: text on standard error */
  const char *folder;        /* of heddle's CUDA library; NULL: where it lies beside this program */
  uint64_t devices;          /* from 1 on */
  uint64_t threads, seed;
  uint64_t work, alone, error_code; /* as in hd_program_settings */
  const char *kernel;               /* the same; NULL: all */
  const char *log;                  /* file in a folder that is there, begun anew; NULL: standard error */
  const char *findings; /* the same, for findings alone: an object of JSON a line, or SARIF 2.1.0 where its
                           name ends in .sarif; NULL: none */
  bool quiet, analyze;
} hd_program_options;

/* Have the programs that this process becomes or starts run on the emulator, with these settings.
 * HD_ERR_USAGE for an option, HD_ERR_IO: heddle's library is not there, or the report's folder. */
HD_OWN hd_status hd_program_prepare(const hd_program_options *o, hd_diag *d);

/* Become the program argv[0], looked up in PATH, with these settings. Returns only on failure: HD_ERR_USAGE
 * for an option, HD_ERR_IO for a program that is missing or cannot be run. */
HD_API hd_status hd_program_exec(const hd_program_options *o, char **argv, hd_diag *d);

/* A path that holds after the program has changed its working folder. HD_ERR_USAGE: it has no room. */
HD_OWN hd_status hd_program_keep_path(const char *path, char *out, size_t cap, hd_diag *d);
/* Become the program argv[0], looked up on the PATH, in the environment as it is. Returns only if it cannot
 * be started. */
HD_OWN hd_status hd_program_become(char **argv, hd_diag *d);
/* Make programs that this process becomes or starts load a library of heddle's, by its file's name, before
 * all others. `given`: its folder; NULL: where it lies beside this program. *folder: where it was found. */
HD_OWN hd_status hd_program_preload(const char *library, const char *given, char folder[HD_PROGRAM_PATH],
                                    hd_diag *d);

#ifdef __cplusplus
}
#endif
#endif
