/* What the examples of fast.h leave out.
 *
 *   embed_c             under fast run
 *   embed_c by-hand     on a machine of its own, as rank 1 of two
 */
#include <fast.h>
#include <stdio.h>
#include <stdlib.h>

static float weights[2][3] = {{1, 2, 3}, {4, 5, 6}};

static void step(void) {
  for (int i = 0; i < 6; ++i) weights[i / 3][i % 3] *= 0.999f;
}

static void die(const char* why) {
  fprintf(stderr, "%s\n", why);
  exit(1);
}

static void from_environment(void) {
  const int64_t shape[] = {2, 3};
  const uint64_t batch_size = 500;
  const double loss = 0;
#include "adapters-c-fast.h.c.1"
}

static void by_hand(void) {
  const int64_t shape[] = {2, 3};
  fast_session* s = fast_new();
#include "adapters-c-fast.h.c.2"
  fast_set(s, "budget", "250000");
  fast_array(s, FAST_TRAINED, "weights", "F32", 2, shape, weights);
  if (fast_open(s) || fast_join(s)) die(fast_error(s));
  while (!fast_done(s)) {
    step();
    if (fast_exchange(s, 500, 0)) die(fast_error(s));
  }
  if (fast_finish(s, NULL)) die(fast_error(s));
  fast_close(s);
}

int main(int argc, char** argv) {
  (void)argv;
  if (argc > 1) {
    by_hand();
  } else {
    from_environment();
  }
  return 0;
}
