#include "stencil/transport/stream/tls.h"

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <string_view>
#include <utility>

#include "stencil/core/error.h"
#include "stencil/transport/stream/frame_reader.h"

namespace stencil {
namespace {

/// Of one record, plain; and what a record needs more, encrypted.
constexpr std::size_t kRecord = SSL3_RT_MAX_PLAIN_LENGTH, kRecordOverhead = 256;
/// Records that are encrypted before they are sent, in one call.
constexpr std::size_t kRecordsAtOnce = 4;
/// There is room for a word of TLS's own beside the records.
constexpr std::size_t kMostOutput = kRecordsAtOnce * (kRecord + kRecordOverhead) + kRecord;
/// Read at once, once the other end has proven its key: before that a record.
constexpr std::size_t kReadAhead = 128 << 10;
constexpr unsigned char kHandshakeRecord = 0x16;
constexpr unsigned char kAes128GcmSha256[] = {0x13, 0x01};
constexpr std::string_view kPurpose = "FAST stream transport, TLS 1.3 PSK, version 1";

using Secret = std::array<unsigned char, 32>;

struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
};

/// Both ends of a pair compute the same (RFC 7748). False for a key that is no point of high order.
bool multiply(const SecretKey& ours, const PublicKey& theirs, Secret& out) {
  const std::unique_ptr<EVP_PKEY, FreeKey> secret(
      EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nullptr, ours.bytes.data(), ours.bytes.size()));
  const std::unique_ptr<EVP_PKEY, FreeKey> open(EVP_PKEY_new_raw_public_key(
      EVP_PKEY_X25519, nullptr, theirs.bytes.data(), theirs.bytes.size()));
  if (!secret || !open) return false;
  const std::unique_ptr<EVP_PKEY_CTX, FreeKey> product(EVP_PKEY_CTX_new(secret.get(), nullptr));
  std::size_t size = out.size();
  return product && EVP_PKEY_derive_init(product.get()) > 0 &&
         EVP_PKEY_derive_set_peer(product.get(), open.get()) > 0 &&
         EVP_PKEY_derive(product.get(), out.data(), &size) > 0 && size == out.size();
}

int write_output(BIO* bio, const char* bytes, int size) {
  auto& output = *static_cast<std::vector<std::byte>*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  if (output.size() + static_cast<std::size_t>(size) > kMostOutput) {
    BIO_set_retry_write(bio);
    return -1;
  }
  const auto* const first = reinterpret_cast<const std::byte*>(bytes);
  output.insert(output.end(), first, first + size);
  return size;
}

long control_output(BIO*, int command, long, void*) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

std::size_t size_of(std::span<const iovec> parts) {
  std::size_t sum = 0;
  for (const iovec& part : parts) sum += part.iov_len;
  return sum;
}

}  // namespace

/// What OpenSSL calls.
struct TlsCallbacks {
  static TlsChannel& channel(SSL* tls) { return *static_cast<TlsChannel*>(SSL_get_app_data(tls)); }

  /// At the dialler's end. `digest`: the only one that may be used, or null.
  static int use(SSL* tls, const EVP_MD* digest, const unsigned char** identity, std::size_t* size,
                 SSL_SESSION** session) {
    TlsChannel& self = channel(tls);
    *session = nullptr;
    if (!self.dials_ || !self.keys_) return 0;
    if (digest != nullptr && EVP_MD_get_type(digest) != NID_sha256) return 0;
    *identity = self.identity_.data();
    *size = self.identity_.size();
    *session = self.session_with(self.ours_, *self.theirs_, *self.theirs_);
    return *session != nullptr ? 1 : 0;
  }

  static int find(SSL* tls, const unsigned char* identity, std::size_t size,
                  SSL_SESSION** session) {
    *session = nullptr;
    return channel(tls).on_identity({identity, size}, session);
  }
};

void TlsContext::Free::operator()(ssl_ctx_st* context) const {
  SSL_CTX_free(context);
}

void TlsContext::Free::operator()(bio_method_st* method) const {
  BIO_meth_free(method);
}

void TlsChannel::Free::operator()(ssl_st* tls) const {
  SSL_free(tls);
}

TlsContext::TlsContext(std::uint64_t bytes_of_a_key)
    : bytes_of_a_key_(bytes_of_a_key),
      context_(SSL_CTX_new(TLS_method())),
      output_(BIO_meth_new(BIO_TYPE_SOURCE_SINK | BIO_get_new_index(), "output")) {
  SSL_CTX* const context = context_.get();
  if (context == nullptr || output_ == nullptr ||
      SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256") != 1 ||
      SSL_CTX_set1_groups_list(context, "X25519") != 1) {
    ERR_clear_error();
    throw ResourceError("OpenSSL cannot be set up for TLS 1.3 with AES-128-GCM and X25519",
                        "see which of them this machine's openssl.cnf forbids, or use zmq://");
  }
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(context, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_psk_use_session_callback(context, TlsCallbacks::use);
  SSL_CTX_set_psk_find_session_callback(context, TlsCallbacks::find);
  BIO_meth_set_write(output_.get(), write_output);
  BIO_meth_set_ctrl(output_.get(), control_output);
}

TlsContext::~TlsContext() = default;

TlsChannel::TlsChannel(const TlsContext& context, int socket, std::shared_ptr<const KeyRing> keys,
                       const PublicKey& asked)
    : TlsChannel(context, socket, std::move(keys), true) {
  theirs_ = asked;
  std::ranges::copy(ours_.bytes, identity_.begin());
  std::ranges::copy(asked.bytes, identity_.begin() + kKeyBytes);
  // Without a certificate of somebody we know, which nobody has, only the key can prove anything.
  SSL_set_verify(tls_.get(), SSL_VERIFY_PEER, nullptr);
  SSL_set_connect_state(tls_.get());
}

TlsChannel::TlsChannel(const TlsContext& context, int socket, std::shared_ptr<const KeyRing> keys)
    : TlsChannel(context, socket, std::move(keys), false) {
  SSL_set_accept_state(tls_.get());
}

TlsChannel::TlsChannel(const TlsContext& context, int socket, std::shared_ptr<const KeyRing> keys,
                       bool dials)
    : socket_(socket),
      dials_(dials),
      keys_(std::move(keys)),
      ours_(keys_->own_public),
      bytes_of_a_key_(context.bytes_of_a_key_),
      key_left_(bytes_of_a_key_),
      tls_(SSL_new(context.context_.get())) {
  BIO* const in = BIO_new_socket(socket, BIO_NOCLOSE);
  BIO* const out = BIO_new(context.output_.get());
  if (!tls_ || in == nullptr || out == nullptr) {
    BIO_free(in);
    BIO_free(out);
    ERR_clear_error();
    throw ResourceError("OpenSSL has no memory for a connection", "free memory");
  }
  BIO_set_data(out, &output_);
  BIO_set_init(out, 1);
  SSL_set_bio(tls_.get(), in, out);
  SSL_set_app_data(tls_.get(), this);
}

TlsChannel::~TlsChannel() = default;

ssl_session_st* TlsChannel::session_with(const PublicKey& dialler, const PublicKey& listener,
                                         const PublicKey& theirs) const {
  Secret product{}, key{};
  std::vector<unsigned char> named(kPurpose.begin(), kPurpose.end());
  named.insert(named.end(), dialler.bytes.begin(), dialler.bytes.end());
  named.insert(named.end(), listener.bytes.begin(), listener.bytes.end());
  SSL_SESSION* session = nullptr;
  if (multiply(keys_->own_secret, theirs, product) &&
      HMAC(EVP_sha256(), product.data(), static_cast<int>(product.size()), named.data(),
           named.size(), key.data(), nullptr) != nullptr) {
    session = SSL_SESSION_new();
  }
  if (session != nullptr &&
      (SSL_SESSION_set1_master_key(session, key.data(), key.size()) != 1 ||
       SSL_SESSION_set_cipher(session, SSL_CIPHER_find(tls_.get(), kAes128GcmSha256)) != 1 ||
       SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) != 1)) {
    SSL_SESSION_free(std::exchange(session, nullptr));
  }
  OPENSSL_cleanse(product.data(), product.size());
  OPENSSL_cleanse(key.data(), key.size());
  return session;
}

/// Without a session the handshake ends with the alert handshake_failure, as there is no
/// certificate; where this gives 0, with internal_error.
int TlsChannel::on_identity(std::span<const unsigned char> identity, ssl_session_st** session) {
  if (dials_ || !keys_ || identity.size() != 2 * kKeyBytes) return 1;
  PublicKey dialler, asked;
  std::ranges::copy(identity.first(kKeyBytes), dialler.bytes.begin());
  std::ranges::copy(identity.last(kKeyBytes), asked.bytes.begin());
  if (asked != ours_) {
    why_ = Stranger::kWrongDial;
    return 0;
  }
  if (!keys_->rank_of(dialler)) {
    why_ = Stranger::kUnknownKey;
    unknown_ = dialler;
    return 1;
  }
  *session = session_with(dialler, ours_, dialler);
  theirs_ = dialler;
  return 1;
}

PublicKey TlsChannel::named() const {
  return unknown_.value_or(ours_);
}

/// Whoever dials us and begins with anything but a handshake is turned away before OpenSSL reads
/// it.
bool TlsChannel::is_another_protocol() {
  if (dials_ || first_seen_) return false;
  std::array<std::byte, kGreeting.size()> first{};
  const ssize_t size = ::recv(socket_, first.data(), first.size(), MSG_PEEK | MSG_DONTWAIT);
  if (size <= 0) return false;
  first_seen_ = true;
  if (first[0] == std::byte{kHandshakeRecord}) return false;
  garbled_ = true;
  if (first == kGreeting) why_ = Stranger::kNoKey;
  return true;
}

TlsChannel::Handshake TlsChannel::shake_hands() {
  if (is_another_protocol()) return Handshake::kFailed;
  ERR_clear_error();
  const int done = SSL_do_handshake(tls_.get());
  const int error = SSL_get_error(tls_.get(), done);
  if (done != 1 && error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) {
    note_failure();
    (void)flush();  // the alert
    return Handshake::kFailed;
  }
  if (flush() != 0 && errno != EAGAIN) return Handshake::kFailed;
  if (done != 1) return Handshake::kUnderWay;
  // A handshake by anything else than the key proves nothing.
  if (SSL_session_reused(tls_.get()) != 1 || !theirs_) {
    garbled_ = true;
    return Handshake::kFailed;
  }
  keys_.reset();
  why_.reset();
  output_.reserve(kMostOutput);
  SSL_set_read_ahead(tls_.get(), 1);
  SSL_set_default_read_buffer_len(tls_.get(), kReadAhead);
  (void)SSL_free_buffers(tls_.get());  // made anew, of the new size
  return Handshake::kDone;
}

void TlsChannel::note_failure() {
  const unsigned long error = ERR_peek_error();
  const int reason = ERR_GET_REASON(error);
  const bool is_alert = ERR_GET_LIB(error) == ERR_LIB_SSL && reason >= SSL_AD_REASON_OFFSET;
  if (dials_ && is_alert && reason == SSL_AD_REASON_OFFSET + SSL_AD_HANDSHAKE_FAILURE)
    why_ = Stranger::kRefusesUs;
  garbled_ = error != 0 && !is_alert && reason != SSL_R_UNEXPECTED_EOF_WHILE_READING;
  ERR_clear_error();
}

ssize_t TlsChannel::read(std::span<const iovec> parts) {
  const auto part = std::ranges::find_if(parts, [](const iovec& p) { return p.iov_len > 0; });
  if (part == parts.end()) return 0;
  ERR_clear_error();
  const int got = SSL_read(tls_.get(), part->iov_base,
                           static_cast<int>(std::min<std::size_t>(part->iov_len, INT_MAX)));
  if (got > 0) return got;
  const int error = SSL_get_error(tls_.get(), got);
  ERR_clear_error();
  errno = error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? EAGAIN : ECONNRESET;
  return error == SSL_ERROR_ZERO_RETURN ? 0 : -1;
}

std::size_t TlsChannel::encrypt_record(std::span<const iovec> parts, std::size_t skip) {
  while (skip >= parts.front().iov_len) {
    skip -= parts.front().iov_len;
    parts = parts.subspan(1);
  }
  const auto* bytes = static_cast<const std::byte*>(parts.front().iov_base) + skip;
  std::size_t size = std::min(parts.front().iov_len - skip, kRecord);
  if (size < kRecord && parts.size() > 1) {
    plain_.assign(bytes, bytes + size);
    for (const iovec& part : parts.subspan(1)) {
      const auto* const more = static_cast<const std::byte*>(part.iov_base);
      plain_.insert(plain_.end(), more, more + std::min(part.iov_len, kRecord - plain_.size()));
    }
    bytes = plain_.data();
    size = plain_.size();
  }
  return SSL_write(tls_.get(), bytes, static_cast<int>(size)) > 0 ? size : 0;
}

ssize_t TlsChannel::write(std::span<const iovec> parts, int flags) {
  if (flush(flags) != 0) return -1;
  const std::size_t all = size_of(parts);
  std::size_t taken = 0;
  ERR_clear_error();
  for (std::size_t i = 0; i < kRecordsAtOnce && taken < all; ++i) {
    if (key_left_ < kRecord) {
      if (SSL_key_update(tls_.get(), SSL_KEY_UPDATE_NOT_REQUESTED) != 1) break;
      key_left_ = bytes_of_a_key_;
    }
    const std::size_t size = encrypt_record(parts, taken);
    if (size == 0) break;
    taken += size;
    key_left_ -= std::min<std::uint64_t>(key_left_, size);
  }
  if (taken == 0 && all > 0) {
    errno = EPIPE;
    return -1;
  }
  if (flush(flags) != 0 && errno != EAGAIN) return -1;
  return static_cast<ssize_t>(taken);
}

int TlsChannel::flush(int flags) {
  while (unsent()) {
    const ssize_t sent = ::send(socket_, output_.data() + sent_, output_.size() - sent_,
                                MSG_NOSIGNAL | MSG_DONTWAIT | flags);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return -1;
    sent_ += static_cast<std::size_t>(sent);
  }
  output_.clear();
  sent_ = 0;
  return 0;
}

}  // namespace stencil
