# One suite for all implementations of a kind. Topologies, codecs and torch's models are tried from
# the product's lists; a transport or an adapter adds a file that instantiates the suite.
fast_contract(topology LINK stencil_core)
fast_test_room(contract/topology PREFIX topology_ LINK topology_contract LABELS contract)

fast_contract(codec LINK stencil_mix)
fast_test_room(contract/codec PREFIX codec_ LINK codec_contract LABELS contract)

fast_test_room(contract/edge_codec PREFIX edge_codec_ LINK stencil_mix LABELS contract)

fast_contract(transport LINK stencil_transport stencil_io fast_test_key_rings)
fast_test_room(contract/transport PREFIX transport_ LINK transport_contract LABELS contract)

fast_contract(adapter LINK fast_train)
foreach(adapter flat torch)
  if(TARGET fast_${adapter})
    fast_test(adapter_${adapter}_test SOURCES contract/adapter/${adapter}_test.cc
      LINK adapter_contract fast_${adapter} $<TARGET_NAME_IF_EXISTS:fast_${adapter}_models> LABELS contract TIMEOUT 120)
  endif()
endforeach()
