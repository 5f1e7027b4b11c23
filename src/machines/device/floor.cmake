# The probe's kernels are part of the library, as text.
foreach(probe_name probe_ptx probe_l2_ptx)
  string(REGEX REPLACE "_ptx$" ".ptx" probe_file ${probe_name})
  set(probe_file ${HEDDLE_FLOOR}/${probe_file})
  heddle_text(PROBE_PTX ${probe_file})
  set(PROBE_NAME ${probe_name})
  configure_file(${HEDDLE_FLOOR}/probe_ptx.c.in ${CMAKE_BINARY_DIR}/device_${probe_name}.c @ONLY)
  target_sources(heddle_device PRIVATE ${CMAKE_BINARY_DIR}/device_${probe_name}.c)
endforeach()
