# The probe's kernels are part of the library, as text.
set(probe_ptx ${CMAKE_SOURCE_DIR}/src/device/probe.ptx)
file(READ ${probe_ptx} PROBE_PTX HEX)
string(REGEX REPLACE "(..)" "0x\\1," PROBE_PTX "${PROBE_PTX}")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${probe_ptx})
configure_file(${CMAKE_SOURCE_DIR}/src/device/probe_ptx.c.in ${CMAKE_BINARY_DIR}/device_probe_ptx.c @ONLY)
target_sources(heddle_device PRIVATE ${CMAKE_BINARY_DIR}/device_probe_ptx.c)
