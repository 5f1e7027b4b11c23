/* Windows that slide: looks that go through places, so that each place is looked at in several rounds. */
#include "check.h"

#include "waits.h"

#define LOAD(offset) "ld.acquire.gpu.global.u32 %r1, [%rd3" offset "];\nor.b32 %r3, %r3, %r1;\n"
#define COUNTED(looks, step)                                                                                 \
  "L: " looks step "nanosleep.u32 99;\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 300;\n@%p1 bra L;\n"      \
  "st.global.u32 [%rd1], %r3;"
#define POINTER(looks, step) KERNEL("mov.u64 %rd3, %rd1;\n" COUNTED(looks, step "\n"))
#define WORDS(looks) POINTER(looks, "add.s64 %rd3, %rd3, 4;")
/* By an index, %r5. */
#define INDEX(index) index "\nmul.wide.s32 %rd4, %r6, 4;\nadd.s64 %rd3, %rd1, %rd4;\n" LOAD("")
#define INDEXED(looks, step) KERNEL("mov.u32 %r5, 0;\n" COUNTED(looks, step "\n"))
#define NEXT "add.s32 %r5, %r5, 1;"

static void a_window_that_slides_looks_again(void **state) {
  static const wait_case cases[] = {
      {"three words", WORDS(LOAD("") LOAD("+4") LOAD("+8")), "ld.acquire"},
      {"four words", WORDS(LOAD("") LOAD("+4") LOAD("+8") LOAD("+12")), "ld.acquire"},
      {"not the first of them", WORDS(LOAD("+64") LOAD("+68") LOAD("+72")), "ld.acquire"},
      {"in another order", WORDS(LOAD("+8") LOAD("") LOAD("+4")), "ld.acquire"},
      {"with gaps", WORDS(LOAD("") LOAD("+16") LOAD("+64")), "ld.acquire"},
      {"backwards", POINTER(LOAD("") LOAD("-4") LOAD("-8"), "add.s64 %rd3, %rd3, -4;"), "ld.acquire"},
      {"by the next pointer",
       POINTER("add.s64 %rd5, %rd3, 4;\n" LOAD("") LOAD("+4") LOAD("+8"), "mov.u64 %rd3, %rd5;"),
       "ld.acquire"},
      {"by an index",
       INDEXED(INDEX("mov.u32 %r6, %r5;") INDEX("add.s32 %r6, %r5, 1;") INDEX("add.s32 %r6, %r5, 2;"), NEXT),
       "ld.acquire"},
      {"in steps of two",
       INDEXED(INDEX("mov.u32 %r6, %r5;") INDEX("add.s32 %r6, %r5, 2;") INDEX("add.s32 %r6, %r5, 4;"),
               "add.s32 %r5, %r5, 2;"),
       "ld.acquire"},
      {"rows of the launch",
       INDEXED(INDEX("mul.lo.s32 %r6, %r5, %r8;") INDEX("mad.lo.s32 %r6, %r5, %r8, %r8;")
                   INDEX("add.s32 %r6, %r5, 2;\nmul.lo.s32 %r6, %r6, %r8;"),
               NEXT),
       "ld.acquire"},
      {"by a stride of the launch",
       INDEXED(INDEX("mov.u32 %r6, %r5;") INDEX("add.s32 %r6, %r5, %r8;")
                   INDEX("mad.lo.s32 %r6, %r8, 2, %r5;"),
               "add.s32 %r5, %r5, %r8;"),
       "ld.acquire"},
      {"among others", WORDS(LOAD("+2048") LOAD("") LOAD("+4") LOAD("+9") LOAD("+8")), "ld.acquire"},
      {"of atomics",
       WORDS(
           "atom.global.or.b32 %r1, [%rd3], 0;\nor.b32 %r3, %r3, %r1;\natom.global.or.b32 %r1, [%rd3+4], 0;\n"
           "or.b32 %r3, %r3, %r1;\natom.global.or.b32 %r1, [%rd3+8], 0;\nor.b32 %r3, %r3, %r1;\n"),
       "atom"},
  };
  static const wait_case others[] = {
      {"a word and the next", WORDS(LOAD("") LOAD("+4")), NULL},
      {"two, one of them twice", WORDS(LOAD("") LOAD("+4") LOAD("+4")), NULL},
      {"three that go on as one", POINTER(LOAD("") LOAD("+4") LOAD("+8"), "add.s64 %rd3, %rd3, 12;"), NULL},
      {"four in steps of two", POINTER(LOAD("") LOAD("+4") LOAD("+8") LOAD("+12"), "add.s64 %rd3, %rd3, 8;"),
       NULL},
      {"parts of a word between", POINTER(LOAD("") LOAD("+4") LOAD("+12"), "add.s64 %rd3, %rd3, 8;"), NULL},
      {"columns of rows of the launch",
       INDEXED(INDEX("mul.lo.s32 %r6, %r5, %r8;") INDEX("mad.lo.s32 %r6, %r5, %r8, 1;")
                   INDEX("mad.lo.s32 %r6, %r5, %r8, 2;"),
               NEXT),
       NULL},
      {"data around L1",
       WORDS("ld.global.cg.u32 %r1, [%rd3];\nadd.u32 %r3, %r3, %r1;\nld.global.cg.u32 %r1, [%rd3+4];\n"
             "add.u32 %r3, %r3, %r1;\nld.global.cg.u32 %r1, [%rd3+8];\nadd.u32 %r3, %r3, %r1;\n"),
       NULL},
      {"plain data",
       WORDS("ld.global.u32 %r1, [%rd3];\nadd.u32 %r3, %r3, %r1;\nld.global.u32 %r1, [%rd3+4];\n"
             "add.u32 %r3, %r3, %r1;\nld.global.u32 %r1, [%rd3+8];\nadd.u32 %r3, %r3, %r1;\n"),
       NULL},
  };
  EXPECT_ALL(cases);
  EXPECT_ALL(others);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a window that slides looks again", a_window_that_slides_looks_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
