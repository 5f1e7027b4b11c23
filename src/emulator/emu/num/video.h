/* emu/num/video.h: the video instructions on one thread's registers, after the PTX ISA's own description. */
#ifndef HEDDLE_EMU_VIDEO_H
#define HEDDLE_EMU_VIDEO_H

#include "emu/num/num.h"

typedef enum num_video_op {
  NUM_VADD,
  NUM_VSUB,
  NUM_VABSDIFF,
  NUM_VMIN,
  NUM_VMAX,
  NUM_VSHL,
  NUM_VSHR,
  NUM_VSET,
  NUM_VMAD,
  NUM_VAVRG,
} num_video_op;

/* What becomes of a result and c. */
typedef enum num_video_second {
  NUM_VIDEO_NONE,
  NUM_VIDEO_ADD,
  NUM_VIDEO_MIN,
  NUM_VIDEO_MAX
} num_video_second;

/* A byte or half of a register, or all of it. */
typedef struct num_video_part {
  uint8_t shift, bits;
} num_video_part;

typedef struct num_video {
  uint8_t op;     /* num_video_op */
  uint8_t lanes;  /* 1, or 2 halves or 4 bytes of each register */
  uint8_t cmp;    /* vset: num_cmp, NUM_CMP_EQ to NUM_CMP_GE */
  uint8_t second; /* num_video_second; with lanes: NONE or ADD */
  bool a_signed, b_signed, d_signed, sat;
  /* One lane */
  num_video_part a, b, d;      /* a d of fewer than 32 bits is merged into c */
  bool wrap;                   /* vshl, vshr: the amount is taken modulo 32, else 32 at most */
  uint8_t scale;               /* vmad: the sum is shifted right */
  bool plus_one;               /* vmad.po */
  bool minus_product, minus_c; /* vmad */
  /* Lanes: which of the lanes of {b, a}, counted from a's lowest, each lane of the sources is; and which
   * lanes of the result are taken, bit by bit. */
  uint8_t from_a[4], from_b[4], mask;
} num_video;

uint32_t num_video_run(const num_video *v, uint32_t a, uint32_t b, uint32_t c);

#endif
