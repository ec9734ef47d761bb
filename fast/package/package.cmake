# The package of find_package(fast) and of pkg-config.
