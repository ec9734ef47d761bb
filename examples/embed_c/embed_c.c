/* A training loop in C, made a worker of a ring of two by the calls of fast.h: a linear regression,
 * of which each worker sees other examples.
 *
 *   embed_c                          both workers on this machine: it starts the other itself
 *   embed_c 0 *:5555                 worker 0; on another machine:
 *   embed_c 1 *:5555 0=first-machine:5555
 *
 * Between machines both need a folder `keys`, as `fast keys --out keys --workers 2` makes it.
 */
#define _POSIX_C_SOURCE 200809L
#include <fast.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { INPUTS = 3, BATCH = 16 };

/* Mean squared error on examples of y = x0 - 2 x1 + 3 x2 + 0.5, after one step of descent. */
static double step(float* weights, float* bias, unsigned* seed) {
  float slope[INPUTS + 1] = {0}, loss = 0;
  for (int n = 0; n < BATCH; ++n) {
    float x[INPUTS], y = 0.5f, guess = *bias;
    for (int i = 0; i < INPUTS; ++i) {
      *seed = *seed * 1664525u + 1013904223u;
      x[i] = (float)(*seed >> 8) / (1 << 23) - 1;
      y += (i == 0 ? 1.0f : i == 1 ? -2.0f : 3.0f) * x[i];
      guess += weights[i] * x[i];
    }
    for (int i = 0; i < INPUTS; ++i) slope[i] += (guess - y) * x[i] / BATCH;
    slope[INPUTS] += (guess - y) / BATCH;
    loss += (guess - y) * (guess - y) / BATCH;
  }
  for (int i = 0; i < INPUTS; ++i) weights[i] -= 0.1f * slope[i];
  *bias -= 0.1f * slope[INPUTS];
  return loss;
}

static int train(const char* rank, const char* listen, const char* peer) {
  struct {
    float weights[INPUTS], bias;
  } model = {{0, 0, 0}, 0};
  const int64_t shape[] = {INPUTS};
  unsigned seed = 1 + (unsigned)atoi(rank);
  fast_session* session = fast_new();
  int code = fast_set(session, "topology", "ring:2") || fast_set(session, "rank", rank) ||
             fast_set(session, "listen", listen) || fast_set(session, "peer", peer) ||
             fast_set(session, "keys", listen[0] == '*' ? "keys" : "") ||
             fast_set(session, "budget", "64000") || /* examples, of both */
             fast_array(session, FAST_TRAINED, "weights", "F32", 1, shape, model.weights) ||
             fast_array(session, FAST_TRAINED, "bias", "F32", 0, NULL, &model.bias) ||
             fast_open(session) || fast_join(session);
  while (!code && !fast_done(session)) {
    const double loss = step(model.weights, &model.bias, &seed);
    code = fast_exchange(session, BATCH, loss);
  }
  if (!code) code = fast_finish(session, NULL);
  if (code) fprintf(stderr, "worker %s: %s\n", rank, fast_error(session));
  fast_close(session);
  printf("worker %s: y = %.2f x0 %+.2f x1 %+.2f x2 %+.2f\n", rank, model.weights[0],
         model.weights[1], model.weights[2], model.bias);
  return code ? 1 : fabsf(model.weights[1] + 2) < 0.01f ? 0 : 1;
}

int main(int argc, char** argv) {
  if (argc > 2) return train(argv[1], argv[2], argc > 3 ? argv[3] : "");
  char meeting[64], peer[80]; /* both here: an address that only these two know */
  snprintf(meeting, sizeof meeting, "ipc:///tmp/fast-embed-c-%ld", (long)getpid());
  snprintf(peer, sizeof peer, "0=%s", meeting);
  const pid_t other = fork();
  if (other == 0) return train("1", "", peer);
  int status = 0;
  const int mine = train("0", meeting, "");
  waitpid(other, &status, 0);
  unlink(meeting + sizeof "ipc://" - 1);
  return mine ? mine : WEXITSTATUS(status);
}
