# Properties of the exchange, on the very pump that real workers run, under a virtual clock.
fast_test_room(sim PREFIX sim_ LINK fast_test_sim_cases LABELS sim TIMEOUT 300
  ONE_THREAD)
