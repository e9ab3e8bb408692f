# Texts that become part of the program. As a script (cmake -P) it writes one C file that holds every
# file of a folder, byte for byte, as the array that base/embedded.h describes. A text becomes a string
# literal, which a zero follows: a compiler reads a megabyte of it in a moment, where an array of numbers
# takes it seconds.
#
#   cmake -DOUT=files.c -DFOLDER=std/ninth -DPATTERN=*.nth -DSYMBOL=tn_ninth_library -P cmake/embed.cmake

# tn_embed(TARGET FOLDER PATTERN SYMBOL): the files of FOLDER that fit PATTERN, as a source of TARGET
# that defines SYMBOL_files and SYMBOL_file_count.
function(tn_embed target folder pattern symbol)
  file(GLOB files CONFIGURE_DEPENDS ${folder}/${pattern})
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${symbol}_files.c)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DFOLDER=${folder} -DPATTERN=${pattern} -DSYMBOL=${symbol}
            -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    COMMENT "Embedding the files of ${target}" VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()

if(CMAKE_SCRIPT_MODE_FILE AND OUT)
  file(GLOB files ${FOLDER}/${PATTERN})
  list(SORT files)
  set(arrays "")
  set(table "")
  set(number 0)
  foreach(path ${files})
    get_filename_component(name ${path} NAME_WE)
    get_filename_component(file ${path} NAME)
    file(READ ${path} text)
    string(REPLACE "\\" "\\\\" text "${text}")
    string(REPLACE "\"" "\\\"" text "${text}")
    string(REPLACE "?" "\\?" text "${text}")   # no trigraphs
    string(REPLACE "\n" "\\n\"\n\"" text "${text}")
    string(APPEND arrays "static const char file_${number}[] =\n\"${text}\";\n")
    string(APPEND table "  { \"${name}\", \"${file}\", file_${number}, sizeof file_${number} - 1 },\n")
    math(EXPR number "${number} + 1")
  endforeach()
  file(WRITE ${OUT} "/* Made by cmake/embed.cmake. */\n#include \"base/embedded.h\"\n\n"
    "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n"
    "extern const tn_embedded ${SYMBOL}_files[];\nextern const size_t ${SYMBOL}_file_count;\n${arrays}\n"
    "const tn_embedded ${SYMBOL}_files[] = {\n${table}};\n"
    "const size_t ${SYMBOL}_file_count = sizeof ${SYMBOL}_files / sizeof *${SYMBOL}_files;\n")
endif()
