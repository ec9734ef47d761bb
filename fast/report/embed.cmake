# cmake -DOUT=file.cc -DHEADER=who/declares/them.h -DNAMESPACE=a::b -DFILES=NAME=path;.. -P embed.cmake
# Writes a source file that defines NAMESPACE::NAME for each, as raw string literals: text that
# the compiler takes as it lies. The delimiter must not occur in the files.
set(delimiter "=fast_embed=")
set(source "#include \"${HEADER}\"\n\nnamespace ${NAMESPACE} {\n")
foreach(entry ${FILES})
  string(FIND "${entry}" "=" at)
  string(SUBSTRING "${entry}" 0 ${at} name)
  math(EXPR at "${at} + 1")
  string(SUBSTRING "${entry}" ${at} -1 path)
  file(READ "${path}" text)
  string(FIND "${text}" "${delimiter}" clash)
  if(NOT clash EQUAL -1)
    message(FATAL_ERROR "${path} holds ${delimiter}: choose another delimiter in embed.cmake")
  endif()
  string(APPEND source "\nconst std::string_view ${name} = R\"${delimiter}(${text})${delimiter}\";\n")
endforeach()
string(APPEND source "\n}  // namespace ${NAMESPACE}\n")
file(WRITE "${OUT}" "${source}")
