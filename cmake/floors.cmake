# Rooms and floors. A room is a folder of src/; a floor is a folder in a room, and one static library, linked with the
# floors below it. Includes name the floor ("model/cache.h"), whatever room it is in.

set(HEDDLE_WARNINGS -Wall -Wextra -Wshadow -Wno-unused-parameter -Wno-missing-field-initializers)
if(HEDDLE_WERROR)
  list(APPEND HEDDLE_WARNINGS -Werror)
endif()

if(HEDDLE_SANITIZE)
  add_compile_options(-fsanitize=${HEDDLE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${HEDDLE_SANITIZE})
endif()
# The emulator's floating-point results must be those of the GPU: no contraction, no reassociation.
add_compile_options(-ffp-contract=off)
add_compile_definitions(_GNU_SOURCE _FILE_OFFSET_BITS=64 HEDDLE_OWN)

set(HEDDLE_FLOORS "")
set(HEDDLE_HEADER_FLOORS "") # those without a file that is compiled

set(HEDDLE_ROOMS "") # their folders, for includes

# heddle_room(NAME): src/NAME holds the floors that follow.
macro(heddle_room name)
  set(HEDDLE_ROOM ${CMAKE_SOURCE_DIR}/src/${name})
  list(APPEND HEDDLE_ROOMS ${HEDDLE_ROOM})
endmacro()

# heddle_floor(NAME [DEPS floor...] [HEADERS header...] [FOLDERS folder...] [LIBS lib...]): the room's NAME/*.c and
# NAME/FOLDER/*.c -> heddle_NAME. HEADERS are for scripts/check-structure, which checks the includes. A floor may be headers
# alone: it is in no library.
function(heddle_floor name)
  cmake_parse_arguments(F "" "" "DEPS;HEADERS;FOLDERS;LIBS" ${ARGN})
  set(HEDDLE_FLOOR ${HEDDLE_ROOM}/${name}) # for the floor's own floor.cmake
  file(GLOB sources CONFIGURE_DEPENDS ${HEDDLE_FLOOR}/*.c ${HEDDLE_FLOOR}/*.cpp)
  foreach(folder ${F_FOLDERS})
    file(GLOB more CONFIGURE_DEPENDS ${HEDDLE_FLOOR}/${folder}/*.c)
    list(APPEND sources ${more})
  endforeach()
  file(GLOB headers CONFIGURE_DEPENDS ${HEDDLE_FLOOR}/*.h)
  if(NOT sources AND NOT headers)
    message(FATAL_ERROR "The floor ${name} has no sources in ${HEDDLE_FLOOR}")
  elseif(NOT sources)
    add_library(heddle_${name} INTERFACE)
    target_include_directories(heddle_${name} INTERFACE ${CMAKE_SOURCE_DIR}/include ${HEDDLE_ROOMS})
    target_link_libraries(heddle_${name} INTERFACE ${F_LIBS})
    set(HEDDLE_HEADER_FLOORS ${HEDDLE_HEADER_FLOORS} heddle_${name} PARENT_SCOPE)
    return()
  endif()
  add_library(heddle_${name} STATIC ${sources})
  target_compile_options(heddle_${name} PRIVATE ${HEDDLE_WARNINGS})
  target_include_directories(heddle_${name} PUBLIC ${CMAKE_SOURCE_DIR}/include ${HEDDLE_ROOMS})
  foreach(dep ${F_DEPS})
    if(TARGET heddle_${dep})
      target_link_libraries(heddle_${name} PUBLIC heddle_${dep})
    endif()
  endforeach()
  target_link_libraries(heddle_${name} PUBLIC ${F_LIBS})
  if(EXISTS ${HEDDLE_FLOOR}/floor.cmake)
    include(${HEDDLE_FLOOR}/floor.cmake)
  endif()
  set(HEDDLE_FLOORS ${HEDDLE_FLOORS} heddle_${name} PARENT_SCOPE)
endfunction()

# heddle_text(VARIABLE FILE): the file's bytes as the elements of an array in C, for a floor's own floor.cmake.
macro(heddle_text variable file)
  file(READ ${file} ${variable} HEX)
  string(REGEX REPLACE "(..)" "0x\\1," ${variable} "${${variable}}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
endmacro()

# Link every object of the given static libraries, used or not.
function(heddle_link_whole target)
  foreach(floor ${ARGN})
    target_link_libraries(${target} PRIVATE -Wl,--whole-archive $<TARGET_FILE:${floor}> -Wl,--no-whole-archive)
    add_dependencies(${target} ${floor})
    get_target_property(libs ${floor} INTERFACE_LINK_LIBRARIES)
    foreach(lib ${libs})
      if(NOT lib MATCHES "^heddle_")
        target_link_libraries(${target} PRIVATE ${lib})
      endif()
    endforeach()
  endforeach()
endfunction()
