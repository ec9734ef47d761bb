# Unit tests, in the folders of what they test.
fast_test_room(unit/stencil/core LINK stencil_core Threads::Threads LABELS unit)
fast_test_room(unit/stencil/threads LINK stencil_threads LABELS unit)
fast_test_room(unit/stencil/codec LINK stencil_codec PkgConfig::hwy LABELS unit ONE_THREAD)
fast_test_room(unit/stencil/mix LINK stencil_mix PkgConfig::hwy Threads::Threads LABELS unit)
fast_test_room(unit/stencil/wire LINK stencil_wire stencil_mix LABELS unit ONE_THREAD)
fast_test_room(unit/stencil/engine LINK fast_test_engine_pair LABELS unit ONE_THREAD)
fast_test_room(unit/stencil/io LINK stencil_io LABELS unit)
fast_test_room(unit/stencil/transport LINK stencil_transport fast_test_key_rings PkgConfig::openssl
  LABELS unit)
fast_test_room(unit/stencil/shared LINK fast_test_engine_pair Threads::Threads LABELS unit)
fast_test_room(unit/stencil/runtime LINK fast_test_engine_pair fast_test_allocations LABELS unit)

fast_test_room(unit/fast/options LINK fast_options fast_test_key_rings LABELS unit)
fast_test_room(unit/fast/session
  LINK fast_session stencil_runtime fast_test_key_rings fast_test_engine_pair LABELS unit)
fast_test_room(unit/fast/data LINK fast_data fast_test_data_files LABELS unit ONE_THREAD)
fast_test_room(unit/fast/run LINK fast_run fast_report nlohmann_json::nlohmann_json LABELS unit
  ONE_THREAD
  DEFINES PYTHON="${Python3_EXECUTABLE}"
          READER="${CMAKE_CURRENT_SOURCE_DIR}/support/read_safetensors.py")
fast_test_room(unit/fast/checkpoint LINK fast_checkpoint fast_test_data_files LABELS unit)
fast_test_room(unit/fast/train
  LINK fast_train fast_flat_models fast_test_data_files fast_test_process LABELS unit)
fast_test_room(unit/fast/report
  LINK fast_report fast_session stencil_runtime nlohmann_json::nlohmann_json LABELS unit
  ONE_THREAD)
fast_test_room(unit/fast/programs
  LINK fast_test_data_files fast_programs fast_flat CLI11::CLI11 nlohmann_json::nlohmann_json
       tomlplusplus::tomlplusplus LABELS unit)

fast_test_room(unit/adapters/flat LINK fast_flat_models LABELS unit)
if(FAST_WITH_DLIB)
  fast_test_room(unit/adapters/dlib
    LINK fast_dlib_models fast_dlib_blas fast_test_data_files fast_test_process PkgConfig::hwy
    LABELS unit TIMEOUT 120)
endif()
if(FAST_WITH_DLIB AND FAST_WITH_TORCH)
  fast_test_room(unit/adapters/dlib/beside_torch LINK fast_dlib_models fast_torch_models
    LABELS unit TIMEOUT 120)
endif()
if(FAST_WITH_TORCH)
  fast_test_room(unit/adapters/torch
    LINK fast_torch_models fast_flat_models fast_test_data_files fast_test_process
    LABELS unit TIMEOUT 120)
endif()
if(TARGET compare)
  fast_test_room(unit/bench/compare LINK compare fast_test_data_files LABELS unit TIMEOUT 300
    DEFINES FAST_SPECS="${PROJECT_SOURCE_DIR}/bench/specs")
endif()
