# The library that stands in front of a program: in place of the driver and the runtime, by whatever name it asks for
# them. It exports their symbols alone, and uses its own whatever others export.
add_library(heddle_front SHARED ${CMAKE_SOURCE_DIR}/src/version.c)
set(HEDDLE_FRONT_DIR ${CMAKE_BINARY_DIR}/emulated)
set_target_properties(heddle_front PROPERTIES OUTPUT_NAME heddle-cuda LIBRARY_OUTPUT_DIRECTORY ${HEDDLE_FRONT_DIR}
  LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/libheddle-cuda.map)
target_link_libraries(heddle_front PRIVATE -Wl,--whole-archive $<TARGET_FILE:heddle_cuda> -Wl,--no-whole-archive
  heddle_cuda)
target_link_options(heddle_front PRIVATE -Wl,-Bsymbolic -Wl,--gc-sections
  -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/libheddle-cuda.map)
foreach(name libcuda.so.1 libcuda.so libcudart.so.11.0 libcudart.so.12 libcudart.so.13)
  add_custom_command(TARGET heddle_front POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E create_symlink libheddle-cuda.so ${HEDDLE_FRONT_DIR}/${name})
endforeach()
install(DIRECTORY ${HEDDLE_FRONT_DIR}/ DESTINATION ${CMAKE_INSTALL_LIBDIR}/heddle USE_SOURCE_PERMISSIONS)
