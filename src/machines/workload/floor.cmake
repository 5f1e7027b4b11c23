# The headers that kernels and references are compiled with are part of the library:
# a workload may lie anywhere, and heddle needs no path to its own installation.
set(kernel_headers ${CMAKE_SOURCE_DIR}/kernels/include)
foreach(name heddle_cuda heddle_reference heddle_inputs)
  string(TOUPPER ${name}_H variable)
  heddle_text(${variable} ${kernel_headers}/${name}.h)
endforeach()
configure_file(${HEDDLE_FLOOR}/headers.c.in ${CMAKE_BINARY_DIR}/workload_headers.c @ONLY)
target_sources(heddle_workload PRIVATE ${CMAKE_BINARY_DIR}/workload_headers.c)
target_include_directories(heddle_workload PRIVATE ${kernel_headers})
target_link_libraries(heddle_workload PUBLIC ${CMAKE_DL_LIBS})
