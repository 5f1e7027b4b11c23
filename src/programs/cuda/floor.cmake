# The library that stands in front of a program: in place of the driver and the runtime, by whatever name it asks for
# them. It exports their symbols alone, and uses its own whatever others export.
add_library(heddle_front SHARED ${CMAKE_SOURCE_DIR}/src/version.c)
set(HEDDLE_FRONT_DIR ${CMAKE_BINARY_DIR}/emulated)
set_target_properties(heddle_front PROPERTIES OUTPUT_NAME heddle-cuda LIBRARY_OUTPUT_DIRECTORY ${HEDDLE_FRONT_DIR}
  LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/libheddle-cuda.map)
target_link_libraries(heddle_front PRIVATE -Wl,--whole-archive $<TARGET_FILE:heddle_cuda> -Wl,--no-whole-archive
  heddle_cuda)
target_link_options(heddle_front PRIVATE -static-libstdc++ -Wl,--as-needed -Wl,-Bsymbolic -Wl,-z,now,-z,initfirst -Wl,--gc-sections
  -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/libheddle-cuda.map)
foreach(name libcuda.so.1 libcuda.so)
  add_custom_command(TARGET heddle_front POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E create_symlink libheddle-cuda.so ${HEDDLE_FRONT_DIR}/${name})
endforeach()
# The shared runtime's symbols have a version, which differs from release to release: a library of each name defines it,
# and leaves the symbols to the one above, which stands first and has them for any version.
foreach(version 11.0 12 13)
  set(map ${CMAKE_BINARY_DIR}/libcudart-${version}.map)
  file(GENERATE OUTPUT ${map} CONTENT "libcudart.so.${version} { global: heddle_none; local: *; };\n")
  add_library(heddle_cudart_${version} SHARED ${HEDDLE_FLOOR}/loader/version/cudart.c)
  string(REGEX REPLACE "[.].*" "" major ${version})
  target_compile_definitions(heddle_cudart_${version} PRIVATE HEDDLE_CUDART_MAJOR=${major})
  set_target_properties(heddle_cudart_${version} PROPERTIES OUTPUT_NAME cudart SUFFIX .so.${version}
    LIBRARY_OUTPUT_DIRECTORY ${HEDDLE_FRONT_DIR} BUILD_RPATH "\$ORIGIN" INSTALL_RPATH "\$ORIGIN")
  target_link_libraries(heddle_cudart_${version} PRIVATE heddle_front)
  target_link_options(heddle_cudart_${version} PRIVATE -Wl,--no-as-needed -Wl,-soname,libcudart.so.${version}
    -Wl,--version-script=${map})
endforeach()
install(DIRECTORY ${HEDDLE_FRONT_DIR}/ DESTINATION ${CMAKE_INSTALL_LIBDIR}/heddle USE_SOURCE_PERMISSIONS)
