// The whole program is the snippet: this brings it to the compiler.
#include "adapters-README.md.cpp.1"
