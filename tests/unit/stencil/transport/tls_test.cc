#include "stencil/transport/stream/tls.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>

#include <algorithm>
#include <string>

#include "stencil/transport/descriptors.h"
#include "tests/support/key_rings.h"

namespace stencil {
namespace {

using test::KeyPair;
using test::ring;
using Handshake = TlsChannel::Handshake;

const std::vector<std::vector<std::uint8_t>> kBoth = {{10}, {11}};

struct Wire {
  Wire() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
    near.emplace(ends[0]);
    far.emplace(ends[1]);
  }
  std::optional<Descriptor> near, far;
};

/// Dialler 11 and listener 10.
class Tls : public ::testing::Test {
 protected:
  explicit Tls(std::uint64_t bytes_of_a_key = TlsContext::kBytesOfAKey)
      : context_(bytes_of_a_key) {}

  void expect_hands_shaken() {
    Handshake dialling = Handshake::kUnderWay, listening = Handshake::kUnderWay;
    for (int i = 0; i < 10; ++i) {
      if (dialling == Handshake::kUnderWay) dialling = dialler_.shake_hands();
      if (listening == Handshake::kUnderWay) listening = listener_.shake_hands();
    }
    ASSERT_EQ(dialling, Handshake::kDone);
    ASSERT_EQ(listening, Handshake::kDone);
    EXPECT_EQ(dialler_.proven(), KeyPair(10).open);
    EXPECT_EQ(listener_.proven(), KeyPair(11).open);
  }

  /// Sends in parts of these sizes, over and over, for as long as it takes.
  void expect_passed(TlsChannel& from, TlsChannel& to, std::string sent,
                     std::vector<std::size_t> sizes) {
    std::string got, piece(5000, '\0');
    std::size_t begun = 0;
    while (got.size() < sent.size()) {
      std::vector<iovec> parts;
      std::size_t at = begun;
      for (const std::size_t size : sizes) {
        const std::size_t part = std::min(size, sent.size() - at);
        if (part > 0) parts.push_back({sent.data() + at, part});
        at += part;
      }
      const ssize_t taken = parts.empty() ? from.flush() : from.write(parts, 0);
      if (taken > 0) begun += static_cast<std::size_t>(taken);
      if (taken < 0 && errno != EAGAIN) FAIL() << "the channel is broken";
      const iovec room{piece.data(), piece.size()};
      ssize_t size = 0;
      while ((size = to.read({&room, 1})) > 0) got.append(piece, 0, static_cast<std::size_t>(size));
      ASSERT_EQ(size, -1);
      ASSERT_EQ(errno, EAGAIN);
    }
    EXPECT_TRUE(got == sent);
  }

  TlsContext context_;
  Wire wire_;
  TlsChannel dialler_{context_, wire_.near->get(), ring(11, kBoth), KeyPair(10).open};
  TlsChannel listener_{context_, wire_.far->get(), ring(10, kBoth)};
};

std::string text_of_length(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 2654435761U >> 13);
  return text;
}

TEST_F(Tls, WhatIsWrittenInPartsIsReadInOrder) {
  expect_hands_shaken();
  const std::string text = text_of_length(3'000'000);
  expect_passed(dialler_, listener_, text, {8, 100, 262'144});
  expect_passed(listener_, dialler_, text, {1, 16'384, 16'383, 300});
  expect_passed(dialler_, listener_, text, {40'000});
  expect_passed(listener_, dialler_, text_of_length(30'000), {7, 11});
}

class TlsOfShortKeys : public Tls {
 protected:
  TlsOfShortKeys() : Tls(40'000) {}
};

TEST_F(TlsOfShortKeys, KeysAreReplacedAfterSoManyBytes) {
  expect_hands_shaken();
  const std::string text = text_of_length(1'000'000);
  expect_passed(dialler_, listener_, text, {8, 100, 262'144});
  expect_passed(listener_, dialler_, text, {50'000});
}

TEST_F(Tls, WhoIsSentItsOwnWordsBackDoesNotTakeThemForAnothers) {
  ASSERT_EQ(dialler_.shake_hands(), Handshake::kUnderWay);
  char bytes[4096];
  const ssize_t size = ::recv(wire_.far->get(), bytes, sizeof bytes, 0);
  ASSERT_GT(size, 0);
  Wire back;
  TlsChannel same(context_, back.near->get(), ring(11, kBoth));
  ASSERT_EQ(::send(back.far->get(), bytes, static_cast<std::size_t>(size), 0), size);
  EXPECT_EQ(same.shake_hands(), Handshake::kFailed);
  EXPECT_EQ(same.why(), Stranger::kWrongDial);
}

TEST_F(Tls, ARecordThatWasDamagedOnItsWayEndsTheStream) {
  expect_hands_shaken();
  std::string text = "some words";
  const iovec part{text.data(), text.size()};
  ASSERT_EQ(dialler_.write({&part, 1}, 0), static_cast<ssize_t>(text.size()));
  char bytes[4096];
  const ssize_t size = ::recv(wire_.far->get(), bytes, sizeof bytes, 0);
  ASSERT_GT(size, 10);
  EXPECT_EQ(std::string(bytes, static_cast<std::size_t>(size)).find(text), std::string::npos);
  bytes[size - 1] ^= 1;
  ASSERT_EQ(::send(wire_.near->get(), bytes, static_cast<std::size_t>(size), 0), size);
  const iovec room{bytes, sizeof bytes};
  EXPECT_EQ(listener_.read({&room, 1}), -1);
  EXPECT_NE(errno, EAGAIN);
}

/// A TLS server that has a certificate of its own making, and none of our keys.
class Certified {
 public:
  explicit Certified(int socket) {
    EVP_PKEY* const key = EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256");
    X509* const certificate = X509_new();
    X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    EXPECT_GT(X509_sign(certificate, key, EVP_sha256()), 0);
    context_ = SSL_CTX_new(TLS_method());
    EXPECT_EQ(SSL_CTX_use_certificate(context_, certificate), 1);
    EXPECT_EQ(SSL_CTX_use_PrivateKey(context_, key), 1);
    X509_free(certificate);
    EVP_PKEY_free(key);
    tls_ = SSL_new(context_);
    SSL_set_fd(tls_, socket);
  }
  ~Certified() {
    SSL_free(tls_);
    SSL_CTX_free(context_);
  }
  Certified(const Certified&) = delete;
  Certified& operator=(const Certified&) = delete;
  void shake_hands() { (void)SSL_accept(tls_); }

 private:
  SSL_CTX* context_ = nullptr;
  SSL* tls_ = nullptr;
};

TEST_F(Tls, ACertificateInPlaceOfTheKeyIsRefused) {
  Certified other(wire_.far->get());
  Handshake outcome = Handshake::kUnderWay;
  for (int i = 0; i < 10 && outcome == Handshake::kUnderWay; ++i) {
    outcome = dialler_.shake_hands();
    other.shake_hands();
  }
  EXPECT_EQ(outcome, Handshake::kFailed);
}

}  // namespace
}  // namespace stencil
