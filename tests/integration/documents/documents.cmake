# The snippets of documents as programs; the Python tests beside this file run them.
set(documents ${CMAKE_CURRENT_LIST_DIR})
set(snippets ${CMAKE_CURRENT_BINARY_DIR}/snippets)
set(searched README.md fast/session/README.md fast/session/session.h adapters/README.md
  adapters/c/fast.h adapters/torch/torch_trainer.h adapters/torch/step_in_backward.h
  adapters/torch/scheduler_steps.h adapters/torch/sharded_sampler.h adapters/dlib/dlib_adapter.h)
list(TRANSFORM searched PREPEND ${PROJECT_SOURCE_DIR}/)
add_custom_command(OUTPUT ${snippets}/written
  COMMAND ${Python3_EXECUTABLE} ${documents}/snippets.py ${PROJECT_SOURCE_DIR} ${snippets}
  COMMAND ${CMAKE_COMMAND} -E touch ${snippets}/written
  DEPENDS ${documents}/snippets.py ${searched}
  COMMENT "Extracting the snippets of documents" VERBATIM)
add_custom_target(fast_snippets DEPENDS ${snippets}/written)

# fast_snippet(NAME SOURCE targets ..): a program of preludes/SOURCE and the snippets that it includes.
function(fast_snippet name source)
  add_executable(fast_snippet_${name} ${documents}/preludes/${source})
  add_dependencies(fast_snippet_${name} fast_snippets)
  target_include_directories(fast_snippet_${name} PRIVATE ${snippets})
  target_link_libraries(fast_snippet_${name} PRIVATE ${ARGN})
  target_compile_options(fast_snippet_${name} PRIVATE ${quick})
  set_target_properties(fast_snippet_${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${snippets}/bin OUTPUT_NAME ${name})
endfunction()
fast_snippet(embed_flat embed_flat.cc fast_flat fast_session)
fast_snippet(embed_c embed_c.c fast_c)
if(FAST_WITH_DLIB)
  fast_snippet(embed_dlib embed_dlib.cc fast_dlib_models)
endif()
if(FAST_WITH_TORCH)
  fast_snippet(embed_torch embed_torch.cc fast_torch)
  fast_snippet(worker_main worker_main.cc fast_programs fast_torch_models)
endif()

file(GLOB document_tests CONFIGURE_DEPENDS ${documents}/*_test.py)
foreach(test ${document_tests})
  get_filename_component(name ${test} NAME_WE)
  add_test(NAME documents_${name} COMMAND ${FAST_PYTHON} -W error::ResourceWarning ${test})
  set_tests_properties(documents_${name} PROPERTIES LABELS integration TIMEOUT 900 COST 30 PROCESSORS 2
    SKIP_REGULAR_EXPRESSION "network namespaces cannot be made here"
    ENVIRONMENT "FAST_LIBRARY=$<TARGET_FILE:fast_c>;FAST_BUILD=${PROJECT_BINARY_DIR};FAST_SNIPPETS=${snippets};PYTHONPATH=${PROJECT_SOURCE_DIR}/adapters/python;PYTHONDONTWRITEBYTECODE=1")
endforeach()
