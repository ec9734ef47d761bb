// A segment, from its first byte (a page each of padding where needed):
//
//   Header | BucketControl per bucket | SharedNote per bucket | y | p
//
// Both sides compute every offset from their own layout, never from what they read.

#include "stencil/shared/segment.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <string>
#include <system_error>

namespace stencil {
namespace {

constexpr std::uint64_t kSegmentMagic = 0x5453414644454853ULL;
constexpr std::uint32_t kVersion = 5;
/// Whose locks they are: another C library's pthread_mutex_t of the same size would corrupt ours.
#ifdef __GLIBC__
constexpr std::uint32_t kLibrary = 1;
#else
constexpr std::uint32_t kLibrary = 2;
#endif
constexpr std::uint32_t kLocks = kLibrary << 16 | sizeof(pthread_mutex_t);
constexpr std::size_t kPage = 4096;
constexpr std::size_t kBlock = 512;  // of st_blocks
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

static_assert(std::atomic<float>::is_always_lock_free);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// The offsets of y and p in their first pages: a third of a page apart from each other and from
/// the usual start of a framework's x. Three arrays that are walked in parallel from the same
/// offset of a page can evict each other from the first-level cache at every step: AMD's way
/// predictor identifies an address by 6 bits of its offset and a hash of its page (Lipp et al.,
/// "Take a way", 2020). With x, y and p 0x108000 bytes apart a fold took 16 times as long.
constexpr std::size_t kAsideY = 1344, kAsideP = 2688;

std::size_t pages(std::size_t bytes) {
  return (bytes + kPage - 1) / kPage * kPage;
}

Error strange(const std::string& what) {
  return {Fault::kMalformed, "its segment " + what};
}

}  // namespace

struct Segment::Header {
  std::uint64_t magic, id, layout_hash, floats, bytes;
  std::uint32_t version, buckets, locks;
  Rank rank;
  alignas(64) std::atomic<std::uint32_t> admits;
  alignas(64) std::atomic<std::uint64_t> noted;
};

BucketGuard::BucketGuard(BucketControl& control, int result, Rank holder) : holder_(holder) {
  if (result == EOWNERDEAD) {
    pthread_mutex_consistent(&control.mutex);
    inherited_ = true;
  }
  if (result != 0 && !inherited_) return;
  control_ = &control;
  if (inherited_ || holder_ != kNoRank) control.holder = holder_;
}

BucketGuard::~BucketGuard() {
  if (control_ == nullptr) return;
  if (holder_ != kNoRank) control_->holder = kNoRank;
  pthread_mutex_unlock(&control_->mutex);
}

BucketGuard BucketGuard::try_once(BucketControl& control) {
  return {control, pthread_mutex_trylock(&control.mutex)};
}

BucketGuard BucketGuard::try_for_a_while(BucketControl& control, Rank holder) {
  constexpr int kTries = 128;
  constexpr int kHasty = 32;
  for (int i = 0; i < kTries; ++i) {
    const int result = pthread_mutex_trylock(&control.mutex);
    if (result != EBUSY) return {control, result, holder};
    if (i >= kHasty) ::sched_yield();
  }
  return {};
}

BucketGuard BucketGuard::wait(BucketControl& control) {
  return {control, pthread_mutex_lock(&control.mutex)};
}

Segment::Segment(std::size_t floats, std::uint32_t buckets) : floats_(floats), buckets_(buckets) {}

bool Segment::map_memory(int descriptor) {
  const std::size_t controls_at = (sizeof(Header) + 63) / 64 * 64;
  const std::size_t notes_at = controls_at + buckets_ * sizeof(BucketControl);
  const std::size_t y_at = pages(notes_at + buckets_ * sizeof(SharedNote)) + kAsideY;
  const std::size_t p_at = pages(y_at + floats_ * sizeof(float)) + kAsideP;
  bytes_ = pages(p_at + floats_ * sizeof(float));
  if (descriptor >= 0) {
    struct stat status {};
    if (::fstat(descriptor, &status) != 0) return false;
    if (static_cast<std::size_t>(status.st_size) != bytes_) {
      if (status.st_size != 0 || ::ftruncate(descriptor, static_cast<off_t>(bytes_)) != 0) {
        return false;
      }
    }
  }
  const int sharing = descriptor >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
  void* memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, sharing, descriptor, 0);
  if (memory == MAP_FAILED) return false;
  ::madvise(memory, bytes_, MADV_HUGEPAGE);  // faster where the system grants it
  base_ = static_cast<std::byte*>(memory);
  header_ = reinterpret_cast<Header*>(base_);
  controls_ = reinterpret_cast<BucketControl*>(base_ + controls_at);
  notes_ = reinterpret_cast<SharedNote*>(base_ + notes_at);
  y_ = reinterpret_cast<float*>(base_ + y_at);
  p_ = reinterpret_cast<float*>(base_ + p_at);
  return true;
}

/// Allocates all pages of the memfd now: a page that cannot be allocated later is a SIGBUS.
/// Populates the mapping rather than the file, so that the system may give large pages.
bool Segment::reserve() const {
  if (::madvise(base_, bytes_, MADV_POPULATE_WRITE) != 0) {
    if (errno != EINVAL) return false;  // a kernel before 5.14 does not know it
  } else if (struct stat status{}; ::fstat(descriptor_, &status) == 0 &&
                                   kBlock * static_cast<std::size_t>(status.st_blocks) >= bytes_) {
    return true;  // qemu takes every advice and may do nothing
  }
  return ::fallocate(descriptor_, 0, 0, static_cast<off_t>(bytes_)) == 0;
}

Segment::Segment(const Layout& layout, Rank rank, Reach reach)
    : Segment(layout.size(), static_cast<std::uint32_t>(layout.bucket_count())) {
  const auto fail = [] {
    const std::string why = std::generic_category().message(errno);
    throw ConfigError("cannot make the memory of the exchange: " + why,
                      "free some, or set share_memory to never");
  };
  std::uint64_t id = 0;
  if (reach == Reach::kShared) {
    descriptor_ = ::memfd_create("fast", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (descriptor_ < 0) fail();
    if (::getrandom(&id, sizeof id, 0) != sizeof id) fail();
  }
  if (!map_memory(descriptor_)) fail();
  if (descriptor_ >= 0 && !reserve()) fail();
  if (descriptor_ >= 0 && ::fcntl(descriptor_, F_ADD_SEALS, kSeals) != 0) fail();

  new (header_) Header{.magic = kSegmentMagic,
                       .id = id,
                       .layout_hash = layout.hash(),
                       .floats = floats_,
                       .bytes = bytes_,
                       .version = kVersion,
                       .buckets = buckets_,
                       .locks = kLocks,
                       .rank = rank,
                       .admits = 0,
                       .noted = 0};
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  for (std::uint32_t b = 0; b < buckets_; ++b) {
    new (&controls_[b]) BucketControl{.mutex = {}, .answers_left = 0, .holder = kNoRank, .came = 0};
    pthread_mutex_init(&controls_[b].mutex, &attributes);
    new (&notes_[b]) SharedNote{0.0F, 0.0F};
  }
  pthread_mutexattr_destroy(&attributes);
}

Result<Segment> Segment::map(int descriptor, const Layout& layout, Rank rank, std::uint64_t id) {
  const int seals = ::fcntl(descriptor, F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals) return strange("can be pulled away");
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || status.st_size == 0) return strange("is empty");
  Segment segment(layout.size(), static_cast<std::uint32_t>(layout.bucket_count()));
  if (!segment.map_memory(descriptor)) return strange("has another size, or cannot be mapped");
  const Header& header = *segment.header_;
  if (header.magic != kSegmentMagic || header.version != kVersion) {
    return strange("is of another kind");
  }
  if (header.locks != kLocks) return strange("has the locks of another C library");
  if (header.layout_hash != layout.hash() || header.floats != segment.floats_ ||
      header.bytes != segment.bytes_ || header.buckets != segment.buckets_) {
    return strange("holds another model");
  }
  if (header.rank != rank || header.id != id) return strange("is another worker's");
  return segment;
}

Segment::Segment(Segment&& other) noexcept
    : floats_(other.floats_),
      bytes_(other.bytes_),
      buckets_(other.buckets_),
      descriptor_(std::exchange(other.descriptor_, -1)),
      base_(std::exchange(other.base_, nullptr)),
      header_(other.header_),
      controls_(other.controls_),
      notes_(other.notes_),
      y_(other.y_),
      p_(other.p_) {}

Segment::~Segment() {
  if (base_ != nullptr) ::munmap(base_, bytes_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

Rank Segment::rank() const {
  return header_->rank;
}
std::uint64_t Segment::id() const {
  return header_->id;
}
bool Segment::admits() const {
  return header_->admits.load(std::memory_order_acquire) == 1;
}
void Segment::admit(bool yes) {
  header_->admits.store(yes ? 1 : 0, std::memory_order_release);
}
std::atomic<std::uint64_t>& Segment::noted() const {
  return header_->noted;
}

}  // namespace stencil
