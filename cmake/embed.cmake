# Texts that become part of the program. As a script (cmake -P) it writes one C file that holds
# every library of a folder, byte for byte; lang/ninth/library.h says what is in it.
#
#   cmake -DOUT=library.c -DFOLDER=std/ninth -P cmake/embed.cmake

# tn_embed(TARGET FOLDER): the libraries in FOLDER, as a source of TARGET.
function(tn_embed target folder)
  file(GLOB texts CONFIGURE_DEPENDS ${folder}/*.nth)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${target}_library.c)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DFOLDER=${folder} -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${texts} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    COMMENT "Embedding the libraries of ${target}" VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()

if(CMAKE_SCRIPT_MODE_FILE AND OUT)
  file(GLOB texts ${FOLDER}/*.nth)
  list(SORT texts)
  set(arrays "")
  set(table "")
  foreach(path ${texts})
    get_filename_component(name ${path} NAME_WE)
    get_filename_component(file ${path} NAME)
    file(READ ${path} bytes HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
    string(REPEAT "0x..," 16 line)
    string(REGEX REPLACE "(${line})" "\\1\n" bytes "${bytes}")
    string(APPEND arrays "static const unsigned char text_${name}[] = {\n${bytes}\n};\n")
    string(APPEND table "  { \"${name}\", \"${file}\", text_${name}, sizeof text_${name} },\n")
  endforeach()
  file(WRITE ${OUT} "/* Made by cmake/embed.cmake. */\n#include \"lang/ninth/library.h\"\n\n${arrays}\n"
    "const tn_ninth_library_text tn_ninth_library_texts[] = {\n${table}};\n"
    "const size_t tn_ninth_library_count = sizeof tn_ninth_library_texts / sizeof *tn_ninth_library_texts;\n")
endif()
