# One suite for all implementations of a kind. Topologies, codecs and torch's models are tried from
# the product's lists; a transport or an adapter adds a file that instantiates the suite.
fast_contract(topology LINK stencil_core)
fast_test_room(contract/topology PREFIX topology_ LINK topology_contract LABELS contract ONE_THREAD)

fast_contract(codec LINK stencil_mix)
fast_test_room(contract/codec PREFIX codec_ LINK codec_contract LABELS contract ONE_THREAD)

fast_test_room(contract/edge_codec PREFIX edge_codec_ LINK stencil_mix LABELS contract ONE_THREAD)

fast_contract(transport LINK stencil_transport stencil_io fast_test_key_rings)
fast_test_room(contract/transport PREFIX transport_ LINK transport_contract LABELS contract)

# An adapter; the learners above it; the surfaces that users embed, in their languages.
fast_contract(adapter LINK stencil_core)
fast_contract(learner LINK fast_train)
foreach(suite adapter learner)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/contract/${suite}/*_test.cc)
  foreach(source ${sources})
    string(REGEX REPLACE ".*/(.*)_test.cc" "\\1" framework ${source})
    if(TARGET fast_${framework})
      set(models)
      if(TARGET fast_${framework}_models)
        set(models fast_${framework}_models)
      endif()
      fast_test(${suite}_${framework}_test SOURCES ${source}
        LINK ${suite}_contract fast_test_plain_model fast_test_data_files fast_${framework} ${models}
        LABELS contract TIMEOUT 120)
    endif()
  endforeach()
endforeach()

fast_contract(embedding LINK fast_run fast_test_plain_model)
fast_test(embedding_session_test SOURCES contract/embedding/session_test.cc
  LINK embedding_contract fast_flat LABELS contract TIMEOUT 120)
fast_test(embedding_c_test SOURCES contract/embedding/c_test.cc
  LINK embedding_contract fast_c LABELS contract TIMEOUT 120)
if(FAST_WITH_DLIB)
  fast_test(embedding_dlib_test SOURCES contract/embedding/dlib_test.cc
    LINK embedding_contract fast_dlib_models fast_flat LABELS contract TIMEOUT 120)
endif()
