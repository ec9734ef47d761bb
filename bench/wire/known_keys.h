#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "stencil/core/keys.h"

namespace bench {

/// The key pairs of both ends, the first and then the second of a meeting: made for this
/// measurement and not secret.
inline std::shared_ptr<const stencil::KeyRing> known_keys(bool first) {
  constexpr std::array<std::string_view, 2> kPublic = {"Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID",
                                                       "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"};
  constexpr std::array<std::string_view, 2> kSecret = {"D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs",
                                                       "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6"};
  const std::size_t own = first ? 0 : 1;
  auto ring = std::make_shared<stencil::KeyRing>();
  ring->own_public = stencil::parse_public_key(kPublic[own]).value();
  ring->own_secret = stencil::parse_secret_key(kSecret[own]).value();
  for (const std::string_view key : kPublic) {
    ring->by_rank.push_back({stencil::parse_public_key(key).value()});
  }
  return ring;
}

}  // namespace bench
