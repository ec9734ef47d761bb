# What no sanitizer is asked about: names of programs, which are not built there, and of tests, which
# get the label `plain`. Each line is a regular expression for a whole name. The code that they go
# through is gone through there by others too, in less time.
set(fast_plain
  # They count or measure: allocations, memory, time, what a rule reckoned.
  pump_cost_test session_cost_test quick_steps_test sim_memory_test sim_momentum_test sim_straying_test
  sim_phase_lock_test sim_linger_test
  "Bounded.the_bound_holds_from_the_first_step_on"
  "Overlap.(Leaves|HoldsUp).*"
  "Repeat.the_same_seed_gives_the_same_bytes"
  "Running.falls_to_the_floor_that_each_codec_states"
  "Synthetic.ALinearModelStaysUnderSixtyPercent"
  "Telemetry.every_worker_knows_the_network_mean_of_steps"
  ".*TakeLittleMemory.*"
  ".*TakesFewDescriptors.*"
  ".*[Ww]ithout_?[Dd]escriptors.*"
  # The longer or the more of them, the surer: one of a kind is left.
  "FaultsAtTheEnd.*"
  "Networks/Large.*/([1-35-9]|1[0-9])"
  "Outage.*"
  "Seeds/.*/([1-9]|[12][0-9])"
  "Seeds/Consensus.in_a_lossy_codec.*"
  "TopKRun.(BringsAll|BrokenLinks|SixtyFour).*"
  "Files/DamagedResume.*/(worker1life|worker1metricsjsonl)"
  "Files/DamagedStart.*/(worker1endpoint|worker1life)"
  "Metrics.(ALongFile|AHistory|ALine|TheLastLine).*"
  "Page.LongHistories.*"
  # Processes that read command lines, wait and are killed: launchers and files, not the exchange.
  clocks_test command_line_test keys_command_test restarts_test run_command_test small_disk_test
  "AccidentsTest.(AFile|ALimit|ALow|AMachine|ARun|AShare|Data).*"
  "EndsTest.(AReader|ATerminal|Nohup).*"
  "ResumeRunTest.(AFolder|AGrid|AWorker|Fresh).*"
  "TrainTest.(A[FMRW]|Quiet|Stat|Two|W).*")

# fast_is_plain(NAME OUT): whether the list above has a name.
function(fast_is_plain name out)
  set(${out} OFF PARENT_SCOPE)
  foreach(pattern ${fast_plain})
    if(name MATCHES "^${pattern}$")
      set(${out} ON PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()
