#pragma once

/**
 * FAST for C, and for every language that can call C: libfast.so.
 *
 *     fast_session* s = fast_new();
 *     fast_set(s, "budget", "250000");  // samples, over all workers
 *     fast_array(s, FAST_TRAINED, "weights", "F32", 2, shape, weights);
 *     if (fast_set_from_environment(s) || fast_open(s) || fast_join(s)) die(fast_error(s));
 *     while (!fast_done(s)) {
 *       ... one step of training, which changes the weights ...
 *       if (fast_exchange(s, batch_size, loss)) die(fast_error(s));
 *     }
 *     if (fast_finish(s, NULL)) die(fast_error(s));
 *     fast_save_model(s, "model.safetensors");
 *     fast_close(s);
 *
 * `fast run --topology ring:2 -- ./program` starts two of it on one machine and sets their
 * environment. On a machine of its own, a worker may set by hand where it is:
 *
 *     fast_set(s, "topology", "ring:2");
 *     fast_set(s, "rank", "1");
 *     fast_set(s, "listen", "*:5555");
 *     fast_set(s, "peer", "0=node0:5555");
 *     fast_set(s, "keys", "keys");  // a folder: `fast keys --out keys --workers 2`
 *
 * A process may hold several sessions; each is a worker by itself. The functions of one session
 * belong to one thread at a time, its training thread, unless "any thread" is said. In a child of
 * fork(), a session of the parent can only be closed.
 *
 * A function that fails returns a code; fast_error() gives the cause and the remedy. Returned
 * pointers to text belong to the session, or to the library where they are said to be constant.
 */

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define FAST_API __attribute__((visibility("default")))
#else
#define FAST_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** What a function returns: the exit codes of the programs of FAST. */
typedef enum fast_code {
  FAST_OK = 0,
  FAST_FAILURE = 1,      /**< anything not named below */
  FAST_USAGE = 2,        /**< an option, the topology, or an invalid order of calls */
  FAST_DATA = 3,         /**< a data set is missing, truncated or wrong */
  FAST_FILE = 4,         /**< a file cannot be read or written */
  FAST_NETWORK = 5,      /**< address in use or not usable */
  FAST_REFUSED = 6,      /**< a neighbour refused us: another model, run, version or start */
  FAST_NON_FINITE = 7,   /**< parameters became NaN or infinite */
  FAST_MODEL = 9,        /**< a model that cannot be exchanged */
  FAST_DEADLINE = 10,    /**< a wait passed its deadline (modes sync and bounded) */
  FAST_INTERRUPTED = 130 /**< for a program that fast_stop() ended; no function returns it */
} fast_code;

/** One worker: its options, its model and, once open, its exchange with its neighbours. */
typedef struct fast_session fast_session;

/** "0.1.0", constant. Any thread. */
FAST_API const char* fast_version(void);

/** A new session to configure and open; NULL when out of memory. Free it with fast_close(). */
FAST_API fast_session* fast_new(void);

/**
 * Leaves in good order (lets neighbours complete what is in flight, 2 s at most) and frees the
 * session. Ignores NULL.
 */
FAST_API void fast_close(fast_session* session);

/**
 * Cause and remedy of the last failure on this session; "" before any. Functions that take a const
 * session leave no text.
 */
FAST_API const char* fast_error(const fast_session* session);

/* ---- Before fast_open() ---- */

/**
 * Sets an option, with the names and the values of the command line: "topology" "torus:2x2", "rank"
 * "3", "listen" "*:5555", "peer" "1=node1:5555" (may be repeated), "budget" "250000" (samples over
 * all workers), "codec" "int8" .. fast_options() lists all.
 */
FAST_API fast_code fast_set(fast_session* session, const char* key, const char* value);

/**
 * Sets what the environment says, as `fast run` and other launchers set it: each option of
 * fast_set() is a variable too, FAST_TOPOLOGY, FAST_RANK, FAST_PEER .. Without FAST_RANK the rank
 * is that of torchrun, mpirun, srun or Kubernetes, or the host's name's; FAST_USAGE where a
 * topology of several workers has none. Options that fast_set() has set, before or afterwards, win
 * over the environment, but for another topology than FAST_TOPOLOGY: that is FAST_USAGE.
 * fast_open() warns of misspelt variables in the log.
 */
FAST_API fast_code fast_set_from_environment(fast_session* session);

/** Called for each option with its present value and a sentence on it. */
typedef void (*fast_option_visitor)(void* context, const char* key, const char* value,
                                    const char* help);
FAST_API fast_code fast_options(const fast_session* session, fast_option_visitor visit,
                                void* context);

/** How many workers the topology has that is set: as fast_status::workers, before fast_open() too;
    -1 where it cannot be read. */
FAST_API int32_t fast_workers(const fast_session* session);

typedef enum fast_log_level {
  FAST_LOG_DEBUG = 0,
  FAST_LOG_INFO = 1,
  FAST_LOG_WARNING = 2,
  FAST_LOG_ERROR = 3
} fast_log_level;

/**
 * Sets the function that gets the few lines of a session's log; NULL: none does. By default
 * warnings and errors go to stderr. The training thread and the session's own thread call it. It
 * must not block and must not call the session.
 */
typedef void (*fast_log)(void* context, fast_log_level level, const char* line);
FAST_API fast_code fast_set_log(fast_session* session, fast_log log, void* context);

/**
 * Sets a function that is called about ten times a second for as long as a function waits for
 * neighbours, by the thread that waits. It may call fast_stop(), and no other function of the
 * session. For languages that run the handlers of signals only between two calls.
 */
typedef void (*fast_waiting)(void* context);
FAST_API fast_code fast_set_waiting(fast_session* session, fast_waiting waiting, void* context);

/** What becomes of an array of a model. */
typedef enum fast_role {
  FAST_TRAINED = 0,  /**< a trainable parameter, which neighbours average at every step */
  FAST_AVERAGED = 1, /**< this worker's own while it trains, the mean over workers at the end:
                          running statistics, such as BatchNorm's */
  FAST_CARRIED = 2   /**< saved, and taken over with the initial values, never averaged: frozen
                          parameters, counters, masks */
} fast_role;

/**
 * An array of the model: its name, its type as safetensors calls it, its shape (`rank` sides; rank
 * 0: a scalar) and its memory, row-major and contiguous. Types: "F32", "F64", "F16", "BF16"; of
 * FAST_CARRIED also "I64", "I32", "I16", "I8", "U64", "U32", "U16", "U8", "BOOL", "F8_E4M3",
 * "F8_E5M2" and "C64". The caller owns the memory, which must outlive the session; see
 * fast_array_moved(). All workers name the same arrays in the same order. Name and shape are
 * copied. An array whose name begins with "state/" is an optimizer's: in checkpoints, and in no
 * model file. Trained arrays that are F32 and lie end to end are exchanged in place, others through
 * a copy of 4 bytes per element.
 */
FAST_API fast_code fast_array(fast_session* session, fast_role role, const char* name,
                              const char* type, size_t rank, const int64_t* shape, void* memory);

/**
 * Optional: model files have array number `array` (from 0, in the order of fast_array()) under this
 * name, too, as a framework's do where it ties parameters.
 */
FAST_API fast_code fast_array_alias(fast_session* session, const char* name, size_t array);

/**
 * Optional: memory for the means of averaged arrays while they come about, a float for each of
 * their elements. Where it begins at the end of the last trained array, and these can be exchanged
 * in place, no copy of them is needed. It must outlive the session.
 */
FAST_API fast_code fast_set_averages(fast_session* session, float* memory);

/**
 * Optional, for arrays whose memory is only the host's copy, while a framework computes on a
 * device. `pull` copies `count` elements from `first` on, counted over all trained arrays in their
 * order, into that memory; `push` copies them back. The training thread calls them within
 * fast_open(), fast_join(), fast_exchange(), fast_ready_from(), fast_needed() and fast_finish().
 * They return 0; after any other number the calling function returns FAST_MODEL.
 */
typedef int (*fast_transfer)(void* context, uint64_t first, uint64_t count);
FAST_API fast_code fast_set_transfers(fast_session* session, fast_transfer pull, fast_transfer push,
                                      void* context);

/**
 * Optional: what checkpoints (options "checkpoint" and "resume") hold beside the arrays, such as
 * the state of an optimizer, in a form of the caller's own. `save` points `*bytes` to `*size`
 * bytes, which must stay until the function returns within which it is called; it is called before
 * arrays are copied, and may bring those up to date that are carried. `load` gets the
 * bytes of the checkpoint that fast_open() resumes from, and is not called where that holds none.
 * Both return 0; after any other number fast_exchange() and fast_finish() return FAST_MODEL,
 * fast_open() returns FAST_FILE.
 */
typedef int (*fast_save_state)(void* context, const void** bytes, size_t* size);
typedef int (*fast_load_state)(void* context, const void* bytes, size_t size);
FAST_API fast_code fast_set_state(fast_session* session, fast_save_state save, fast_load_state load,
                                  void* context);

/**
 * Optional: a function that is called where the model was replaced by a neighbour's, or by the
 * initial values of another rank: within fast_join(), fast_exchange() and fast_finish(), when the
 * arrays hold the new values. What belongs to the steps of the old model, such as momentum, should
 * begin anew, and copies of the arrays be made again.
 */
typedef void (*fast_model_replaced)(void* context);
FAST_API fast_code fast_set_model_replaced(fast_session* session, fast_model_replaced replaced,
                                           void* context);

/**
 * Binds the address and begins to look for neighbours, on a thread of its own. Parameters must have
 * their initial values. They may differ between workers: all begin with those of rank 0, unless
 * "initial" is "same".
 */
FAST_API fast_code fast_open(fast_session* session);

/* ---- Once open ---- */

/**
 * Waits until this worker may begin: its neighbours begin too, with the same initial values, or it
 * has copied the model of one that is ahead. After "start_deadline" (0: never) it begins alone
 * (mode sync: FAST_DEADLINE). The first fast_exchange() calls it if the caller has not.
 */
FAST_API fast_code fast_join(fast_session* session);

/** The loss of a step that is not known. */
#define FAST_NO_LOSS (-HUGE_VAL)

/**
 * The step boundary, to be called once after each step: folds what was agreed with neighbours since
 * the last one, and shows them the present model. `samples` and `loss` are of this step; a loss
 * that is not finite is counted and left out, FAST_NO_LOSS says that it is not known.
 */
FAST_API fast_code fast_exchange(fast_session* session, uint64_t samples, double loss);

/**
 * Array number `array` (from 0, in the order of fast_array()) lies at `memory` from now on, with
 * its type and shape. To be called between two other functions, before that memory is to be
 * exchanged or saved: where a framework binds arrays anew instead of changing them.
 */
FAST_API fast_code fast_array_moved(fast_session* session, size_t array, void* memory);

/**
 * Optional, in the middle of a step that is computed layer by layer: all elements from `first` on,
 * counted over all trained arrays in their order, already hold the new step and will not change
 * before the next fast_exchange(), so that neighbours may have them now.
 */
FAST_API fast_code fast_ready_from(fast_session* session, uint64_t first);

/**
 * Optional: the next step is about to use `count` elements from `first` on, counted over all
 * trained arrays in their order, and has not used them yet. Takes in what has been agreed on for
 * these since fast_exchange(), waiting for what is just coming as that would. Where each step asks
 * so for its layers, one after the other, fast_exchange() waits for no averages: those of a layer
 * have the time until then to come. What nobody asks for is taken in at the next fast_exchange().
 */
FAST_API fast_code fast_needed(fast_session* session, uint64_t first, uint64_t count);

/**
 * Only for who calls fast_needed(): a part that one step has asked for belongs to the session from
 * the end of fast_exchange() until the next step asks for it, and averages are added to it there
 * (option "fold_ahead"), but not where fast_set_transfers() was called. To be called before a
 * part is changed without being asked for, as an optimizer does with layers that were not used. All
 * is the caller's then, until the end of fast_exchange().
 */
FAST_API fast_code fast_changing(fast_session* session);

/**
 * Optional, after each step of an optimizer with momentum, m <- decay m + gradient and x <- x -
 * rate m: `momentum` is the m of array number `array` (from 0, in the order of fast_array()), a
 * trained one, of its type and shape. Until the next call, m changes by -`share` / rate times
 * what neighbours move the parameter by (less where they seldom do, or step at another pace), so
 * that it does not keep pushing towards this worker's own data against theirs (Lin et al. 2021,
 * "Quasi-global momentum"). It is never made longer than this worker's own gradients can make it.
 * `share`: from 0 to 1; the programs use 0.5. The memory must stay until the next call for this
 * array or fast_close(); NULL: it has no momentum any more, which is to be said where the optimizer
 * begins anew.
 */
FAST_API fast_code fast_momentum(fast_session* session, size_t array, void* momentum, double rate,
                                 double decay, double share);

/**
 * Optional: a number that all workers share by name, for decisions that all should take alike, such
 * as a loss on validation data. Says this worker's latest `value`, and sets `*mean`, unless NULL,
 * to the mean over the workers of what each said last, as this worker knows it; NAN where none is
 * known. A value that is not finite says nothing: NAN is for reading alone. Workers that have said
 * nothing do not count. `name` is one of option "means".
 *
 * The mean travels with the exchange, without a collective: here a new value counts at once, as one
 * worker's, and at the others after some boundaries. When nobody has said a new one for so long,
 * all read the same number; in mode sync on topology complete, after one boundary. What workers
 * that died said last fades as others say new values, over some thousand steps. Checkpoints hold it
 * all. After fast_finish() it stays as it is. With option "out" the run's page shows it, a curve
 * for each worker and one of the mean. Training thread.
 */
FAST_API fast_code fast_mean(fast_session* session, const char* name, double value, double* mean);

/**
 * Optional, once, before the first fast_exchange(): a hash of the content of this worker's first
 * batch of training examples, not 0. Neighbours are told; where one of a lower rank has the same, a
 * warning says once that both train on the same examples. Training thread.
 */
FAST_API fast_code fast_note_first_batch(fast_session* session, uint64_t hash);

/**
 * Ends training: keeps averaging until neighbours agree or "settle_deadline" passes, then freezes
 * the model. `*agreed`, unless NULL, becomes 1 where they agree, otherwise 0.
 */
FAST_API fast_code fast_finish(fast_session* session, int* agreed);

/** Writes all arrays as one safetensors file: the complete new file or none. */
FAST_API fast_code fast_save_model(fast_session* session, const char* path);

/**
 * Saves a checkpoint now, between two steps, as option "checkpoint" does every minute: all that it
 * takes to go on with the run (option "resume"). A thread of its own writes it.
 */
FAST_API fast_code fast_save_checkpoint(fast_session* session, const char* path);

/**
 * Ends the run for all workers, without loss: fast_done() becomes true here, and at each other
 * worker as soon as word has come to it. All then call fast_finish() and agree. `reason` is for the
 * log. Training thread.
 */
FAST_API fast_code fast_stop_all(fast_session* session, const char* reason);

/**
 * Ends every wait at once, and makes fast_done() true. Functions that were waiting return normally.
 * Any thread and any signal handler may call it, until fast_close().
 */
FAST_API void fast_stop(fast_session* session);

/**
 * 1 where the budget is used, counted over all workers, where a worker has called fast_stop_all(),
 * or this one fast_stop(); else 0.
 */
FAST_API int fast_done(const fast_session* session);

/** Share of the budget used by all workers together; 0 without a budget, or before fast_open(). */
FAST_API double fast_progress(const fast_session* session);

/** Decayed mean of the loss over all workers, as this worker knows it; NAN where none is known. */
FAST_API double fast_loss(const fast_session* session);

/** Steps whose boundary this worker has passed. */
FAST_API uint64_t fast_steps(const fast_session* session);

/** Seconds that the training thread has spent in fast_exchange(). */
FAST_API double fast_exchange_seconds(const fast_session* session);

/** The endpoint of this worker, such as "zmq://127.0.0.1:40123"; "" before fast_open(). */
FAST_API const char* fast_endpoint(const fast_session* session);

/** A recent snapshot of a worker's exchange. Texts are constant. */
typedef struct fast_status {
  size_t struct_size;        /**< set by the caller: sizeof(fast_status) */
  const char* state;         /**< "joining", "training", "settling", "settled", "frozen" */
  int32_t rank;              /**< this worker's */
  int32_t workers;           /**< in the topology */
  int32_t neighbours;        /**< of this worker: see fast_neighbour_status() */
  int32_t joined_from;       /**< rank whose model was adopted at the start; -1: none */
  double consensus_distance; /**< rms distance to neighbours' models over the norm of this one */
  int32_t flushed;           /**< 1: nothing is in flight with any neighbour */
  int32_t initial_from;      /**< rank whose initial values were taken over; -1: none */
  double likeness;           /**< of this worker's steps and its neighbours' in length, 0 to 1 */
} fast_status;

/** Any thread, once open. */
FAST_API fast_code fast_get_status(const fast_session* session, fast_status* status);

/** One neighbour. Counters begin at 0 with the session; text is constant. */
typedef struct fast_neighbour {
  size_t struct_size; /**< set by the caller: sizeof(fast_neighbour) */
  int32_t rank;
  int32_t shared; /**< 1: the model is averaged in shared memory */
  /** "connecting", "up", "suspect", "gone", "left", "refused", and "paused": left, and will come
      back */
  const char* link;
  const char* state;     /**< as last reported: see fast_status */
  uint64_t step;         /**< last reported */
  uint64_t sweeps;       /**< completed with it, begun here */
  uint64_t bytes_sent;   /**< to it, headers included */
  uint64_t bytes_shared; /**< that this worker averaged in shared memory */
  double round_trip;     /**< seconds, of a bucket, decayed mean; 0 before the first */
  double since_sweep;    /**< seconds since the last sweep with it; -1 before the first */
  int32_t other_grid;    /**< 1: it has not made the changes of the grid made here */
} fast_neighbour;

/** `index`: 0 to fast_status::neighbours - 1. Any thread, once open. */
FAST_API fast_code fast_get_neighbour(const fast_session* session, size_t index,
                                      fast_neighbour* neighbour);

/** Called for each counter of events since the session began: "sweeps", "bytes_sent" ..
 */
typedef void (*fast_counter_visitor)(void* context, const char* name, uint64_t value);
/** Any thread, once open. */
FAST_API fast_code fast_counters(const fast_session* session, fast_counter_visitor visit,
                                 void* context);

#ifdef __cplusplus
}
#endif
