"""A worker that trains until a signal comes, alone. It is started as by a launcher."""

import array

import fast_training as fast

x = array.array("f", [0.5])
with fast.join(x) as session:
    while not session.done():
        x[0] += 1
        session.exchange()
        if session.steps() == 10:
            print("under way", flush=True)
    print("done", flush=True)
    session.finish()
print("finished", session.agreed)
