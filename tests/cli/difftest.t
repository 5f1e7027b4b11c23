Random programs on two instruction sets of the emulator.

  $ heddle difftest --device emu:portable --programs 2000 --threads 2 | sed 's/of [0-9]* instructions/of N instructions/'
  2000 programs of N instructions on the emulator and emu:portable (emulator, sm_90): 0 differ within documented bounds, 0 by the optimizer of the device's compiler, 0 unexplained
  $ heddle difftest --device emu:portable --programs 100 --seed 9 --op 'cvt.*.f16x2' --json | grep -E '"(programs|different|seed)"'
    "seed": 9,
    "programs": 100,
    "different": 0,

A program is run again by its number, for another architecture:

  $ heddle difftest --device emu:portable --programs 3 --first 7 --sm 80 --reports 1 | sed 's/of [0-9]* instructions/of N instructions/'
  3 programs of N instructions on the emulator and emu:portable (emulator, sm_80): 0 differ within documented bounds, 0 by the optimizer of the device's compiler, 0 unexplained

Devices and instructions that do not exist:

  $ heddle difftest --device emu:mmx --programs 1
  heddle: no device 'emu:mmx' (known: emu, model:NAME, cuda:N); did you mean emu?
  [2]
  $ heddle difftest --device emu:portable --op 'frobnicate.*'
  heddle: no instruction of sm_90 matches 'frobnicate.*'
  [2]
