// Only here so that GoogleTest's headers are read once for all tests: see tests/CMakeLists.txt.
