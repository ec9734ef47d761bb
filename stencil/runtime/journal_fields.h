#pragma once

#include <concepts>
#include <type_traits>

#include "stencil/engine/engine.h"
#include "stencil/runtime/journal_archive.h"

/// The fields of all that a journal holds, in the order of the file; see journal_archive.h.
namespace stencil::journal {

template <typename T, typename U>
concept Is = std::same_as<std::remove_const_t<T>, U>;

template <typename A, typename T>
requires requires(A& a, T& v) {
  T::fields(a, v);
}
void fields(A& a, T& v) {
  T::fields(a, v);
}

template <typename A, Is<LifeId> T>
void fields(A& a, T& v) {
  all(a, v.high, v.low);
}
template <typename A, Is<CodecSpec> T>
void fields(A& a, T& v) {
  all(a, v.number, v.parameter);
}
template <typename A, Is<Term> T>
void fields(A& a, T& v) {
  all(a, v.name, v.value);
}
template <typename A, Is<TermHash> T>
void fields(A& a, T& v) {
  all(a, v.name, v.hash);
}
template <typename A, Is<Place> T>
void fields(A& a, T& v) {
  all(a, v.rank, v.turn, v.weight);
}
template <typename A, Is<GridFigures> T>
void fields(A& a, T& v) {
  all(a, v.version, v.turns, v.hash, v.reach, v.sweeps_per_mille);
}
template <typename A, Is<Mode> T>
void fields(A& a, T& v) {
  all(a, v.kind, v.bound);
}

// Messages. Of a payload only whether there is one: the engine looks no further.
template <typename A, Is<MessageHeader> T>
void fields(A& a, T& v) {
  all(a, v.from, v.sender_epoch, v.receiver_epoch, v.number, v.state, v.step, v.settled_hops,
      v.completed);
}
template <typename A, Is<Hello> T>
void fields(A& a, T& v) {
  all(a, v.protocol, v.run_id, v.topology, v.generation, v.layout_hash, v.initial_hash,
      v.initial_rank, v.mode, v.codec, v.last_answered, v.last_completed, v.meeting, v.progress,
      v.life, v.host, v.terms);
}
template <typename A, Is<HelloRequest> T>
void fields(A& a, T& v) {
  all(a, v.known);
}
template <typename A, Is<Refusal> T>
void fields(A& a, T& v) {
  all(a, v.text, v.term, v.answer, v.taken, v.marks);
}
template <typename A, Is<Offer> T>
void fields(A& a, T& v) {
  all(a, v.sequence, v.bucket, v.ahead, v.codec, v.payload);
}
template <typename A, Is<Reply> T>
void fields(A& a, T& v) {
  all(a, v.sequence, v.bucket, v.divisor, v.status, v.codec, v.payload);
}
template <typename A, Is<Pull> T>
void fields(A& a, T& v) {
  all(a, v.bucket, v.round);
}
template <typename A, Is<Snapshot> T>
void fields(A& a, T& v) {
  all(a, v.bucket, v.round, v.codec, v.payload);
}
template <typename A, Is<Heartbeat> T>
void fields(A& a, T& v) {
  all(a, v.first_batch, v.grid);
}
/// `paused` is for people: the engine decides nothing on it.
template <typename A, Is<Leave> T>
void fields(A& /*a*/, T& /*v*/) {}
template <typename A, Is<Message> T>
void fields(A& a, T& v) {
  all(a, v.header, v.body);
}

// Inputs.
template <typename A, typename T>
requires requires(T v) {
  v.rank;
} &&(std::is_trivially_copyable_v<T>)&&(sizeof(T) <= 4) void fields(A& a, T& v) {
  all(a, v.rank);  // of those that name a neighbour alone
}
template <typename A, Is<input::Added> T>
void fields(A& a, T& v) {
  all(a, v.place);
}
template <typename A, Is<input::GridChanged> T>
void fields(A& a, T& v) {
  all(a, v.grid);
}
template <typename A, Is<input::Heard> T>
void fields(A& a, T& v) {
  all(a, v.rank, v.message);
}
template <typename A, Is<input::Made> T>
void fields(A& a, T& v) {
  all(a, v.from);
}
template <typename A, Is<input::Boundary> T>
void fields(A& a, T& v) {
  all(a, v.step);
}
template <typename A, Is<input::Paused> T>
void fields(A& a, T& v) {
  all(a, v.pause);
}
template <typename A, Is<input::Published> T>
void fields(A& a, T& v) {
  all(a, v.round);
}
template <typename A, Is<input::Wanted> T>
void fields(A& a, T& v) {
  all(a, v.state);
}
template <typename A, Is<input::Progress> T>
void fields(A& a, T& v) {
  all(a, v.steps);
}
template <typename A, Is<input::Sharing> T>
void fields(A& a, T& v) {
  all(a, v.rank, v.shared);
}
template <typename A, Is<input::Shared> T>
void fields(A& a, T& v) {
  all(a, v.rank, v.bucket, v.result);
}
template <typename A, Is<MadeOffer> T>
void fields(A& a, T& v) {
  all(a, v.codec, v.payload, v.finishing, v.norm2);
}
template <typename A, Is<input::OfferMade> T>
void fields(A& a, T& v) {
  all(a, v.rank, v.sequence, v.made);
}
template <typename A, Is<input::Answered> T>
void fields(A& a, T& v) {
  all(a, v.rank, v.reply);
}

template <typename A, Is<input::StartHashed> T>
void fields(A& a, T& v) {
  all(a, v.rank, v.hash);
}
template <typename A, Is<input::FirstBatch> T>
void fields(A& a, T& v) {
  all(a, v.hash);
}

// Actions.
template <typename A, Is<OpenOffer> T>
void fields(A& a, T& v) {
  all(a, v.sequence, v.bucket, v.since, v.parked, v.made, v.codec, v.payload, v.finishing, v.norm2);
}
template <typename A, Is<action::Send> T>
void fields(A& a, T& v) {
  all(a, v.to, v.message);
}
template <typename A, Is<action::MakeOffer> T>
void fields(A& a, T& v) {
  all(a, v.to, v.bucket, v.sequence);
}
template <typename A, Is<action::Answer> T>
void fields(A& a, T& v) {
  all(a, v.to, v.message, v.divisor, v.status);
}
template <typename A, Is<action::Merge> T>
void fields(A& a, T& v) {
  all(a, v.with, v.ours, v.message);
}
template <typename A, Is<action::Complete> T>
void fields(A& a, T& v) {
  all(a, v.with, v.ours, v.message);
}
template <typename A, Is<action::Share> T>
void fields(A& a, T& v) {
  all(a, v.with, v.bucket);
}
template <typename A, Is<action::Serve> T>
void fields(A& a, T& v) {
  all(a, v.to, v.bucket, v.round);
}
template <typename A, Is<action::Adopt> T>
void fields(A& a, T& v) {
  all(a, v.from, v.snapshot, v.initial);
}
template <typename A, Is<action::Absorb> T>
void fields(A& a, T& v) {
  all(a, v.from, v.snapshot);
}
template <typename A, Is<action::HashStart> T>
void fields(A& a, T& v) {
  all(a, v.from, v.piece, v.payload, v.last);
}
template <typename A, Is<action::Refused> T>
void fields(A& a, T& v) {
  all(a, v.by);
}
template <typename A, Is<action::Warn> T>
void fields(A& a, T& v) {
  all(a, v.about);
}

/// All but `arrays` and `naming`, which only word texts.
template <typename A, Is<EngineConfig> T>
void fields(A& a, T& v) {
  all(a, v.rank, v.neighbours, v.grid, v.topology, v.mode, v.buckets, v.carried, v.window,
      v.window_total, v.retained_total, v.most_held, v.tell_every, v.heartbeat_every,
      v.suspect_after, v.gone_after, v.hello_every, v.reply_deadline, v.hello, v.terms,
      v.behind_share, v.behind_steps, v.missed_steps, v.most_progress, v.lowest_initial, v.trained,
      v.proven, v.seed);
}

// An engine's state, beside what its parts name themselves.
template <typename A, Is<EngineCounters> T>
void fields(A& a, T& v) {
  a.number(v);
}
template <typename A, Is<Origin> T>
void fields(A& a, T& v) {
  all(a, v.rank, v.hash);
}
template <typename A, Is<Steps> T>
void fields(A& a, T& v) {
  all(a, v.count, v.last, v.every);
}
template <typename A, Is<Life> T>
void fields(A& a, T& v) {
  all(a, v.our_epoch, v.their_epoch, v.acknowledged, v.greeted, v.id, v.generation, v.host,
      v.greeted_at, v.taken_since, v.initial, v.progress, v.told, v.behind, v.doubted, v.fresh,
      v.other_origin, v.ever_heard, v.raised);
}
template <typename A, Is<Report> T>
void fields(A& a, T& v) {
  all(a, v.state, v.steps, v.settled_hops, v.number, v.first_batch, v.grid, v.grid_differs,
      v.grid_told);
}
template <typename A, Is<Pace> T>
void fields(A& a, T& v) {
  all(a, v.limits, v.head_start, v.swept_step);
}
template <typename A, Is<EdgeTimes> T>
void fields(A& a, T& v) {
  all(a, v.heard, v.moved, v.sent, v.hello_sent, v.swept);
}
template <typename A, Is<KeptAnswer> T>
void fields(A& a, T& v) {
  all(a, v.sequence, v.mixes, v.struck, v.message);
}
template <typename A, Is<HeldOffer> T>
void fields(A& a, T& v) {
  all(a, v.message, v.since);
}
template <typename A, Is<SequenceBook> T>
void fields(A& a, T& v) {
  all(a, v.next_offer, v.answered, v.released, v.open, v.kept, v.held, v.mixing);
}
template <typename A, Is<Neighbour> T>
void fields(A& a, T& v) {
  all(a, v.state, v.has_link, v.life, v.report, v.unlike, v.pace, v.times, v.book, v.sweeps,
      v.ask_order, v.round_trip, v.shared, v.retiring);
}

}  // namespace stencil::journal
