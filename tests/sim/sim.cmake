# Properties of the exchange, on the very pump that real workers run, under a virtual clock.
fast_test_room(sim PREFIX sim_ LINK fast_test_sim_cases LABELS sim TIMEOUT 300
  ONE_THREAD)
target_compile_definitions(sim_recordings_test
  PRIVATE FAST_RECORDINGS="${CMAKE_CURRENT_SOURCE_DIR}/sim/recordings")
