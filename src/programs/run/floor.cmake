# The library that stands between a program and its CUDA driver. It needs nothing but the C library where zstd, lz4 and
# nettle are there to be linked into it: a library that it brought along would come before the program's own of that name.
# The demangler of the C++ runtime, which needs no more, is linked into it, too.
add_library(heddle_run_front SHARED ${CMAKE_SOURCE_DIR}/src/version.c)
set_target_properties(heddle_run_front PROPERTIES OUTPUT_NAME heddle-run
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/steered LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/libheddle-run.map)
find_library(HEDDLE_ZSTD_ARCHIVE libzstd.a)
find_library(HEDDLE_LZ4_ARCHIVE liblz4.a)
find_library(HEDDLE_NETTLE_ARCHIVE libnettle.a)
set(run_packed PkgConfig::ZSTD PkgConfig::LZ4 PkgConfig::NETTLE)
if(HEDDLE_ZSTD_ARCHIVE AND HEDDLE_LZ4_ARCHIVE AND HEDDLE_NETTLE_ARCHIVE)
  set(run_packed ${HEDDLE_ZSTD_ARCHIVE} ${HEDDLE_LZ4_ARCHIVE} ${HEDDLE_NETTLE_ARCHIVE})
endif()
set(run_floors "")
foreach(floor run steer program launch store contest rewrite analysis cfg plan ptx page base)
  add_dependencies(heddle_run_front heddle_${floor})
  list(APPEND run_floors $<TARGET_FILE:heddle_${floor}>)
endforeach()
target_link_libraries(heddle_run_front PRIVATE -Wl,--as-needed -Wl,--whole-archive $<TARGET_FILE:heddle_run>
  -Wl,--no-whole-archive ${run_floors} ${run_packed} ${CMAKE_DL_LIBS} Threads::Threads m)
target_include_directories(heddle_run_front PRIVATE ${CMAKE_SOURCE_DIR}/include)
# What it lacks would be missed when a program starts. Sanitizers are the program's own.
if(NOT HEDDLE_SANITIZE)
  target_link_options(heddle_run_front PRIVATE -Wl,-z,defs)
endif()
set_target_properties(heddle_run_front PROPERTIES LINKER_LANGUAGE CXX)
target_link_options(heddle_run_front PRIVATE -static-libstdc++ -static-libgcc -Wl,-Bsymbolic -Wl,-z,now -Wl,--gc-sections
  -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/libheddle-run.map)
install(TARGETS heddle_run_front LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/heddle)
