#pragma once

/**
 * FAST for C, and for every language that can call C: libfast.so.
 *
 *     fast_session *s = fast_new();
 *     fast_set(s, "topology", "ring:2");
 *     fast_set(s, "rank", "0");
 *     fast_set(s, "listen", "*:5555");
 *     fast_parameter(s, "weights", "F32", 2, shape, weights);
 *     if (fast_open(s) || fast_join(s)) die(fast_error(s));
 *     while (!fast_done(s)) {
 *       ... one step of training, which changes the weights ...
 *       if (fast_exchange(s, batch_size, loss)) die(fast_error(s));
 *     }
 *     fast_finish(s, NULL);
 *     fast_save(s, "model.safetensors");
 *     fast_close(s);
 *
 * A process may hold several sessions; each is a worker by itself. The functions of one session
 * belong to one thread at a time, its training thread, but where "any thread" is said. In a child
 * of fork() a session of the parent can only be closed.
 *
 * What fails returns a code; fast_error() says what, and what to do about it. Pointers to text that
 * are returned belong to the session, or to the library where they are said to be constant.
 */

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
  FAST_USAGE = 2,        /**< an option, the topology, or a call out of its turn */
  FAST_DATA = 3,         /**< a data set is missing, truncated or wrong */
  FAST_FILE = 4,         /**< a file cannot be read or written */
  FAST_NETWORK = 5,      /**< address in use or not usable */
  FAST_REFUSED = 6,      /**< a neighbour refused us: another model, run, version or start */
  FAST_NON_FINITE = 7,   /**< parameters became NaN or infinite */
  FAST_MODEL = 9,        /**< a model that cannot be exchanged */
  FAST_DEADLINE = 10,    /**< a wait passed its deadline (modes sync and bounded) */
  FAST_INTERRUPTED = 130 /**< for a program that fast_stop() ended; no function returns it */
} fast_code;

/** One worker: its options, its model, and once open its exchange with its neighbours. */
typedef struct fast_session fast_session;

/** "0.1.0", constant. Any thread. */
FAST_API const char* fast_version(void);

/** A session to be configured and opened; NULL without memory. Ends with fast_close(). */
FAST_API fast_session* fast_new(void);

/**
 * Leaves in good order (lets neighbours settle what is under way, 2 s at most) and frees the
 * session. NULL is passed over.
 */
FAST_API void fast_close(fast_session* session);

/**
 * What the last function that failed on this session found, and the remedy; "" before. Functions
 * that take a const session leave no text.
 */
FAST_API const char* fast_error(const fast_session* session);

/* ---- Before fast_open() ---- */

/**
 * Sets an option, by the names and in the words of the command line: "topology" "torus:2x2", "rank"
 * "3", "listen" "*:5555", "peer" "1=node1:5555" (may be repeated), "budget"
 * "250000" (samples over all workers), "codec" "int8" .. fast_options() lists all.
 */
FAST_API fast_code fast_set(fast_session* session, const char* key, const char* value);

/** Called for each option with its present value and a sentence on it. */
typedef void (*fast_option_visitor)(void* context, const char* key, const char* value,
                                    const char* help);
FAST_API fast_code fast_options(const fast_session* session, fast_option_visitor visit,
                                void* context);

typedef enum fast_log_level {
  FAST_LOG_DEBUG = 0,
  FAST_LOG_INFO = 1,
  FAST_LOG_WARNING = 2,
  FAST_LOG_ERROR = 3
} fast_log_level;

/**
 * Where the few lines of a session's log go; nowhere by default. Called from the training thread
 * and from the session's own; must not block, nor call the session.
 */
typedef void (*fast_log)(void* context, fast_log_level level, const char* line);
FAST_API fast_code fast_set_log(fast_session* session, fast_log log, void* context);

/**
 * A trainable parameter, which neighbours average: its name, its type ("F32", "F64", "F16" or
 * "BF16"), its shape (`rank` sides; rank 0: a scalar) and its memory, row-major and contiguous,
 * which stays the caller's, must not move and must outlive the session. All workers name the same
 * parameters in the same order. Name and shape are copied. Parameters that are F32 and lie end to
 * end are exchanged in place, others through a copy of 4 bytes per element.
 */
FAST_API fast_code fast_parameter(fast_session* session, const char* name, const char* type,
                                  size_t rank, const int64_t* shape, void* memory);

/**
 * What belongs to a saved model beside its parameters, such as statistics; not exchanged. Types as
 * safetensors names them: "F32", "F64", "F16", "BF16", "I64", "I32", "I16", "I8", "U8", "BOOL".
 */
FAST_API fast_code fast_buffer(fast_session* session, const char* name, const char* type,
                               size_t rank, const int64_t* shape, void* memory);

/**
 * Optional, where the parameters' memory is only the host's copy of what a framework computes with,
 * as on a device. `pull` brings `count` elements from `first` on, counted over all parameters in
 * their order, into that memory; `push` takes them back. Called by the training thread within
 * fast_open(), fast_join(), fast_exchange(), fast_ready_from() and fast_finish(). They return 0;
 * with any other number that call ends as FAST_MODEL.
 */
typedef int (*fast_transfer)(void* context, uint64_t first, uint64_t count);
FAST_API fast_code fast_set_transfers(fast_session* session, fast_transfer pull, fast_transfer push,
                                      void* context);

/**
 * Binds the address and begins to look for neighbours, with a thread of its own. Initial values of
 * parameters must be there, and equal on every worker unless "init_from_neighbour" is set.
 */
FAST_API fast_code fast_open(fast_session* session);

/* ---- Once open ---- */

/**
 * Waits until this worker may begin: its neighbours begin too, or a model was copied from one that
 * is ahead. After "start_deadline" it begins alone (mode sync: FAST_DEADLINE). The first
 * fast_exchange() calls it where nobody has.
 */
FAST_API fast_code fast_join(fast_session* session);

/**
 * The step boundary, once after each step: takes in what neighbours agreed on since the last one,
 * and shows them the model as it is now. `samples` and `loss` are of this step.
 */
FAST_API fast_code fast_exchange(fast_session* session, uint64_t samples, double loss);

/**
 * Optional, in the middle of a step that is computed layer by layer: all elements from `first` on,
 * counted over all parameters in their order, already hold the new step and will not change before
 * the next fast_exchange(), so that neighbours may have them now.
 */
FAST_API fast_code fast_ready_from(fast_session* session, uint64_t first);

/**
 * Training is over: averages on until neighbours agree, or "settle_deadline" passes, then fixes the
 * model. `*agreed`, unless NULL, becomes 1 where they do, else 0.
 */
FAST_API fast_code fast_finish(fast_session* session, int* agreed);

/** Writes parameters and buffers as one safetensors file: the whole new file or none. */
FAST_API fast_code fast_save(fast_session* session, const char* path);

/**
 * Ends every wait at once, and makes fast_done() true. The functions that waited return as they do
 * otherwise. Any thread, and signal handlers too, until fast_close().
 */
FAST_API void fast_stop(fast_session* session);

/** 1 where the budget is used, counted over all workers, or fast_stop() was called; else 0. */
FAST_API int fast_done(const fast_session* session);

/** Share of the budget used by all workers together; 0 without a budget, or before fast_open(). */
FAST_API double fast_progress(const fast_session* session);

/** Decayed mean of the loss over all workers; what this worker knows of it. */
FAST_API double fast_loss(const fast_session* session);

/** Steps whose boundary this worker has passed. */
FAST_API uint64_t fast_steps(const fast_session* session);

/** Seconds that the training thread has spent in fast_exchange(). */
FAST_API double fast_exchange_seconds(const fast_session* session);

/** Where neighbours can dial this worker, as "zmq://127.0.0.1:40123"; "" before fast_open(). */
FAST_API const char* fast_endpoint(const fast_session* session);

/** A recent picture of a worker's exchange. Text is constant. */
typedef struct fast_status {
  size_t struct_size;        /**< set by the caller: sizeof(fast_status) */
  const char* state;         /**< "joining", "training", "settling", "settled", "frozen" */
  int32_t rank;              /**< this worker's */
  int32_t workers;           /**< in the topology */
  int32_t neighbours;        /**< of this worker: see fast_neighbour_status() */
  int32_t joined_from;       /**< rank whose model was taken over at the start; -1: none */
  double consensus_distance; /**< rms distance to neighbours' models over the norm of this one */
  int32_t flushed;           /**< 1: nothing is under way with any neighbour */
} fast_status;

/** Any thread, once open. */
FAST_API fast_code fast_get_status(const fast_session* session, fast_status* status);

/** One neighbour. Counters begin at 0 with the session; text is constant. */
typedef struct fast_neighbour {
  size_t struct_size; /**< set by the caller: sizeof(fast_neighbour) */
  int32_t rank;
  int32_t shared;        /**< 1: the model is exchanged in shared memory */
  const char* link;      /**< "connecting", "up", "suspect", "gone", "left", "refused" */
  const char* state;     /**< as it has said: see fast_status */
  uint64_t step;         /**< it has reported */
  uint64_t sweeps;       /**< completed with it, begun here */
  uint64_t bytes_sent;   /**< to it, headers included */
  uint64_t bytes_shared; /**< of the model, averaged in shared memory by this worker */
  double round_trip;     /**< seconds, of a bucket, decayed mean; 0 before the first */
  double since_sweep;    /**< seconds since the last sweep with it; -1 before the first */
} fast_neighbour;

/** `index`: 0 to fast_status::neighbours - 1. Any thread, once open. */
FAST_API fast_code fast_get_neighbour(const fast_session* session, size_t index,
                                      fast_neighbour* neighbour);

/** Called for each thing that has been counted since the session began: "sweeps", "bytes_sent" ..
 */
typedef void (*fast_counter_visitor)(void* context, const char* name, uint64_t value);
/** Any thread, once open. */
FAST_API fast_code fast_counters(const fast_session* session, fast_counter_visitor visit,
                                 void* context);

#ifdef __cplusplus
}
#endif
