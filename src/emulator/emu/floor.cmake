# The instruction handlers (ops/*.c) are compiled once for every instruction set that the
# emulator picks from at run time; other processors than x86-64 get the portable build only. So does a sanitizer: the
# source is the same, and its checks keep loops from becoming vectors whatever there is.
file(GLOB emu_ops_sources CONFIGURE_DEPENDS ${HEDDLE_FLOOR}/ops/*.c)

set(emu_optimized $<$<NOT:$<CONFIG:Debug>>:-O3>)
if(HEDDLE_SANITIZE)
  set(emu_optimized)
endif()

function(heddle_emu_isa isa)
  add_library(heddle_emu_${isa} OBJECT ${emu_ops_sources})
  target_include_directories(heddle_emu_${isa} PRIVATE ${CMAKE_SOURCE_DIR}/include ${HEDDLE_ROOMS})
  target_compile_definitions(heddle_emu_${isa} PRIVATE EMU_ISA=${isa})
  # Registers are read as integers and as floats; exceptions and errno are not looked at.
  target_compile_options(heddle_emu_${isa} PRIVATE ${HEDDLE_WARNINGS} -fno-strict-aliasing -fno-trapping-math
    -fno-math-errno ${emu_optimized} $<$<C_COMPILER_ID:Clang>:-Wno-pass-failed> ${ARGN})
  target_sources(heddle_emu PRIVATE $<TARGET_OBJECTS:heddle_emu_${isa}>)
endfunction()

if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  heddle_emu_isa(portable)
elseif(HEDDLE_SANITIZE)
  heddle_emu_isa(portable -march=x86-64-v2)
else()
  heddle_emu_isa(portable -march=x86-64-v2)
  heddle_emu_isa(avx2 -march=x86-64-v3)
  heddle_emu_isa(avx512 -march=x86-64-v4 -mprefer-vector-width=512)
  target_compile_definitions(heddle_emu PRIVATE EMU_X86_ISAS)
endif()
