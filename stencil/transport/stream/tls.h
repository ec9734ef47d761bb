#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "stencil/core/keys.h"
#include "stencil/transport/proof.h"

struct ssl_st;
struct ssl_ctx_st;
struct bio_st;
struct bio_method_st;
struct ssl_session_st;

namespace stencil {

// TLS 1.3 (RFC 8446) by OpenSSL, with AES-128-GCM, and with our keys in place of certificates: a
// dialler names its public key and the one that it dials for (the PSK's identity), and both ends
// derive the pre-shared key (mode psk_dhe_ke) from the X25519 product of either's secret key with
// the other's public key, as RFC 9257 asks: each key is known to two, and in one role each. So
// whoever completes the handshake has proven its key, and what was said stays secret when a key is
// stolen later. The identity travels in clear: who dials whom can be seen.
//
// Whoever has stolen a worker's secret key can speak in its name and, to it alone, in everybody's.

/// What the connections of a transport have in common. One thread.
class TlsContext {
 public:
  /// A key encrypts so many bytes, at most 2^24.5 records by RFC 8446 (5.5), before the next one.
  static constexpr std::uint64_t kBytesOfAKey = std::uint64_t{64} << 30;

  /// Throws ResourceError where OpenSSL cannot be set up.
  explicit TlsContext(std::uint64_t bytes_of_a_key = kBytesOfAKey);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

 private:
  friend class TlsChannel;
  struct Free {
    void operator()(ssl_ctx_st* context) const;
    void operator()(bio_method_st* method) const;
  };
  std::uint64_t bytes_of_a_key_;
  std::unique_ptr<ssl_ctx_st, Free> context_;
  std::unique_ptr<bio_method_st, Free> output_;
};

/// TLS on a stream socket that somebody else owns and that does not block. It never throws for what
/// the other end does.
class TlsChannel {
 public:
  enum class Handshake : std::uint8_t { kUnderWay, kDone, kFailed };

  /// For a connection to be dialled; `asked` is the key that the other end must prove. `context`
  /// outlives this.
  TlsChannel(const TlsContext& context, int socket, std::shared_ptr<const KeyRing> keys,
             const PublicKey& asked);
  /// For an accepted connection, from the holder of any key of the ring.
  TlsChannel(const TlsContext& context, int socket, std::shared_ptr<const KeyRing> keys);
  ~TlsChannel();
  TlsChannel(const TlsChannel&) = delete;
  TlsChannel& operator=(const TlsChannel&) = delete;

  /// Goes on for as long as the socket lets it. kUnderWay: wait until it is readable, or writable
  /// where there is unsent().
  [[nodiscard]] Handshake shake_hands();
  /// Whose key the other end has proven. Requires kDone.
  [[nodiscard]] const PublicKey& proven() const { return *theirs_; }
  /// After kFailed: why, where that has a name.
  [[nodiscard]] std::optional<Stranger> why() const { return why_; }
  /// The key that belongs to why().
  [[nodiscard]] PublicKey named() const;
  /// After kFailed: it was not TLS that came, or none of ours.
  [[nodiscard]] bool garbled() const { return garbled_; }

  // Once the handshake is done.

  /// As ::readv(): nothing but EAGAIN is said of errors.
  [[nodiscard]] ssize_t read(std::span<const iovec> parts);
  /// As ::sendmsg() with `flags`, except that the bytes taken may wait here, unsent(), until the
  /// next call.
  [[nodiscard]] ssize_t write(std::span<const iovec> parts, int flags);
  /// Sends what is unsent: 0 once nothing is, or -1 and errno.
  [[nodiscard]] int flush(int flags = 0);
  [[nodiscard]] bool unsent() const { return sent_ < output_.size(); }

 private:
  struct Free {
    void operator()(ssl_st* tls) const;
  };
  friend struct TlsCallbacks;

  TlsChannel(const TlsContext& context, int socket, std::shared_ptr<const KeyRing> keys,
             bool dials);
  [[nodiscard]] bool is_another_protocol();
  void note_failure();
  /// Encrypts one record of the parts, but for their first `skip` bytes. Returns its size.
  std::size_t encrypt_record(std::span<const iovec> parts, std::size_t skip);
  [[nodiscard]] ssl_session_st* session_with(const PublicKey& dialler, const PublicKey& listener,
                                             const PublicKey& theirs) const;
  int on_identity(std::span<const unsigned char> identity, ssl_session_st** session);

  const int socket_;
  const bool dials_;
  std::shared_ptr<const KeyRing> keys_;  ///< until the handshake is over
  const PublicKey ours_;
  std::optional<PublicKey> theirs_;  ///< asked for, or claimed; once done: proven
  std::array<std::uint8_t, 2 * kKeyBytes> identity_{};
  std::optional<Stranger> why_;
  std::optional<PublicKey> unknown_;
  bool garbled_ = false, first_seen_ = false;
  std::vector<std::byte> output_;  ///< encrypted
  std::size_t sent_ = 0;           ///< of the output
  std::vector<std::byte> plain_;   ///< of one record whose bytes lie apart
  std::uint64_t bytes_of_a_key_, key_left_;
  std::unique_ptr<ssl_st, Free> tls_;
};

}  // namespace stencil
