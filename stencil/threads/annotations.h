#pragma once

// Clang's thread-safety analysis, under names of our own; nothing for other compilers. CI compiles
// all of stencil/ and fast/ with it. See https://clang.llvm.org/docs/ThreadSafetyAnalysis.html.
// Clang does not look into constructors and destructors, and looks into a lambda as into a function
// of its own.

#if defined(__clang__)
#define FAST_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define FAST_THREAD_ATTRIBUTE(x)
#endif

/// A class whose objects are held: a mutex, or a thread.
#define FAST_CAPABILITY(name) FAST_THREAD_ATTRIBUTE(capability(name))
/// A class whose constructor acquires and whose destructor releases.
#define FAST_SCOPED_CAPABILITY FAST_THREAD_ATTRIBUTE(scoped_lockable)

/// Of a member: it is used only by whoever holds `x`; with PT, what it points to.
#define FAST_GUARDED_BY(x) FAST_THREAD_ATTRIBUTE(guarded_by(x))
#define FAST_PT_GUARDED_BY(x) FAST_THREAD_ATTRIBUTE(pt_guarded_by(x))

/// Of a function: its caller holds these, or does not.
#define FAST_REQUIRES(...) FAST_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define FAST_EXCLUDES(...) FAST_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))

/// Of a function: it acquires, releases, tries to acquire (the first argument is what it returns
/// then), or throws where the caller does not hold it.
#define FAST_ACQUIRE(...) FAST_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define FAST_RELEASE(...) FAST_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define FAST_TRY_ACQUIRE(...) FAST_THREAD_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))
#define FAST_ASSERT_CAPABILITY(x) FAST_THREAD_ATTRIBUTE(assert_capability(x))
