#include "stencil/shared/segment.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace stencil {
namespace {

const Layout& layout() {
  static const Layout kLayout = Layout::flat(100, 30);  // four buckets, the last of 10
  return kLayout;
}

Segment made() {
  return {layout(), 3, Segment::Reach::kShared};
}

TEST(BucketGuard, guards_its_own_bucket_alone_and_nothing_where_the_lock_was_not_had) {
  const Segment segment(layout(), kNoRank, Segment::Reach::kOwn);
  const BucketGuard guard = BucketGuard::try_once(segment.control(0));
  EXPECT_TRUE(guard.guards(segment.control(0)));
  EXPECT_FALSE(guard.guards(segment.control(1)));
  const BucketGuard second = BucketGuard::try_once(segment.control(0));
  EXPECT_FALSE(second.guards(segment.control(0)));
}

TEST(Segment, mapped_twice_is_one_memory) {
  Segment ours = made();
  Result<Segment> theirs = Segment::map(ours.descriptor(), layout(), 3, ours.id());
  ASSERT_TRUE(theirs) << theirs.error().text;
  ours.y()[99] = 4;
  ours.p()[0] = 5;
  ours.control(3).answers_left = 2;
  ours.note(3).moved = 6;
  ours.control(3).came = 1;
  EXPECT_EQ(theirs->y()[99], 4);
  EXPECT_EQ(theirs->p()[0], 5);
  EXPECT_EQ(theirs->control(3).answers_left, 2U);
  EXPECT_EQ(theirs->note(3).moved, 6);
  EXPECT_EQ(theirs->control(3).came, 1U);
  EXPECT_FALSE(theirs->admits());
  ours.admit(true);
  EXPECT_TRUE(theirs->admits());
  const BucketGuard held = BucketGuard::try_once(ours.control(1));
  EXPECT_TRUE(held);
  EXPECT_FALSE(BucketGuard::try_for_a_while(theirs->control(1)));
  EXPECT_TRUE(BucketGuard::try_once(theirs->control(2)));
}

TEST(Segment, has_all_its_pages_from_the_start) {
  const Layout large = Layout::flat(1'000'000, 30'000);
  const Segment ours(large, 0, Segment::Reach::kShared);
  struct stat status {};
  ASSERT_EQ(::fstat(ours.descriptor(), &status), 0);
  ASSERT_GT(status.st_size, 8'000'000);
  EXPECT_EQ(512 * status.st_blocks, status.st_size) << "what is not there now may not be had later";
}

TEST(Segment, of_an_empty_model_can_be_made_and_mapped) {
  const Layout empty = Layout::flat(0, 30);
  Segment ours(empty, 0, Segment::Reach::kShared);
  EXPECT_TRUE(Segment::map(ours.descriptor(), empty, 0, ours.id()));
}

TEST(Segment, of_another_worker_model_or_life_is_refused) {
  Segment ours = made();
  const int fd = ours.descriptor();
  EXPECT_FALSE(Segment::map(fd, layout(), 3, ours.id() + 1));
  EXPECT_FALSE(Segment::map(fd, layout(), 2, ours.id()));
  EXPECT_FALSE(Segment::map(fd, Layout::flat(100, 31), 3, ours.id()));
  EXPECT_FALSE(Segment::map(fd, Layout::flat(100000, 30), 3, ours.id()));
}

/// Copies a good segment's bytes, changed by `change`, to a memfd of `size` more or fewer bytes.
int forged(const Segment& good, const std::function<void(std::byte*)>& change, long more,
           int seals) {
  const long size = ::lseek(good.descriptor(), 0, SEEK_END);
  const int fd = ::memfd_create("forged", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  EXPECT_EQ(::ftruncate(fd, size + more), 0);
  if (more == 0) {
    auto* from = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, good.descriptor(), 0);
    auto* to = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    std::copy_n(static_cast<std::byte*>(from), size, static_cast<std::byte*>(to));
    change(static_cast<std::byte*>(to));
    ::munmap(from, size);
    ::munmap(to, size);
  }
  EXPECT_EQ(::fcntl(fd, F_ADD_SEALS, seals), 0);
  return fd;
}

TEST(Segment, whose_header_size_or_seals_are_wrong_is_refused) {
  const Segment good = made();
  constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  const auto accepted = [&](const std::function<void(std::byte*)>& change, long more, int seals) {
    const int fd = forged(good, change, more, seals);
    const bool ok = Segment::map(fd, layout(), 3, good.id()).ok();
    ::close(fd);
    return ok;
  };
  const auto nothing = [](std::byte*) {};
  EXPECT_TRUE(accepted(nothing, 0, kSeals));
  EXPECT_FALSE(accepted(nothing, 0, F_SEAL_GROW)) << "it could be shrunk under us";
  EXPECT_FALSE(accepted(nothing, 0, kSeals | F_SEAL_WRITE));
  EXPECT_FALSE(accepted(nothing, 4096, kSeals));
  EXPECT_FALSE(accepted(nothing, -4096, kSeals));
  for (int field = 0; field < 56; field += 4) {
    if (field == 8 || field == 12) continue;  // the id, tried above
    const auto flip = [field](std::byte* bytes) { bytes[field] ^= std::byte{1}; };
    EXPECT_FALSE(accepted(flip, 0, kSeals)) << "byte " << field;
  }
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  EXPECT_FALSE(Segment::map(pipe_ends[0], layout(), 3, good.id()));
  EXPECT_FALSE(Segment::map(-1, layout(), 3, good.id()));
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
}

/// A process that takes the lock of bucket 1, says so, and stands still.
pid_t holder(Segment& segment) {
  int ready[2];
  EXPECT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const BucketGuard guard = BucketGuard::try_once(segment.control(1));
    segment.p()[30] = 1;
    const char said = guard ? 'y' : 'n';
    (void)!::write(ready[1], &said, 1);
    while (true) ::pause();
  }
  char heard = 0;
  EXPECT_EQ(::read(ready[0], &heard, 1), 1);
  EXPECT_EQ(heard, 'y');
  ::close(ready[0]);
  ::close(ready[1]);
  return child;
}

TEST(Segment,
     lock_of_a_holder_that_stands_still_is_not_had_and_of_one_that_dies_is_inherited_once) {
  Segment segment = made();
  const pid_t child = holder(segment);
  ASSERT_EQ(::kill(child, SIGSTOP), 0);
  EXPECT_FALSE(BucketGuard::try_for_a_while(segment.control(1)));
  EXPECT_TRUE(BucketGuard::try_once(segment.control(0)));
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  {
    const BucketGuard guard = BucketGuard::try_for_a_while(segment.control(1));
    ASSERT_TRUE(guard);
    EXPECT_TRUE(guard.inherited());
    EXPECT_EQ(segment.p()[30], 1) << "what it had done stays";
  }
  const BucketGuard guard = BucketGuard::try_once(segment.control(1));
  ASSERT_TRUE(guard);
  EXPECT_FALSE(guard.inherited());
}

}  // namespace
}  // namespace stencil
