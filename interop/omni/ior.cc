// SPDX-License-Identifier: MIT OR Apache-2.0
#include "ior.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <stdexcept>

namespace ior {
namespace {

/// Reads one encapsulation. Alignment counts from its first octet, which is the byte order.
class Reader {
public:
    explicit Reader(std::string bytes) : bytes_(std::move(bytes)) { little_ = octet() & 1; }

    unsigned octet() { return static_cast<unsigned char>(bytes_.at(at_++)); }

    unsigned number(unsigned size)
    {
        at_ = (at_ + size - 1) / size * size;
        unsigned value = 0;
        for (unsigned i = 0; i < size; ++i)
            value |= octet() << 8 * (little_ ? i : size - 1 - i);
        return value;
    }

    std::string counted()
    {
        const unsigned length = number(4);
        if (length > bytes_.size() - at_)
            throw std::runtime_error("the reference is cut short");
        at_ += length;
        return bytes_.substr(at_ - length, length);
    }

private:
    std::string bytes_;
    std::size_t at_ = 0;
    bool little_ = false;
};

/// omniORB's component that names a Unix-domain socket.
constexpr std::uint32_t unix_transport = 0x41545402;

/// The path of the socket that the components of a profile name, or nothing.
std::string socket_path(Reader& profile)
{
    for (unsigned components = profile.number(4); components > 0; --components) {
        const unsigned tag = profile.number(4);
        const std::string body = profile.counted();
        if (tag != unix_transport)
            continue;
        Reader reader(body);
        reader.counted();  // the host
        std::string path = reader.counted();
        path.pop_back();  // the terminating zero
        return path;
    }
    return "";
}

/// Served over TLS alone: the port stands in a component.
void find_tls(Reader& reader, Profile& profile)
{
    constexpr unsigned TAG_SSL_SEC_TRANS = 20;
    for (unsigned components = reader.number(4); components > 0; --components) {
        const unsigned tag = reader.number(4);
        const std::string octets = reader.counted();
        if (tag != TAG_SSL_SEC_TRANS)
            continue;
        Reader body(octets);
        body.number(2);  // what the target supports
        body.number(2);  // what it requires
        profile.port = body.number(2);
        profile.tls = true;
    }
}

}  // namespace

Profile parse(const std::string& text)
{
    std::string bytes;
    for (std::size_t i = 4; i + 1 < text.size(); i += 2)
        bytes += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
    Reader reference(bytes);
    reference.counted();  // the type
    for (unsigned profiles = reference.number(4); profiles > 0; --profiles) {
        const unsigned tag = reference.number(4);
        const std::string body = reference.counted();
        if (tag != 0)
            continue;
        Reader reader(body);
        reader.octet();  // major
        Profile profile;
        profile.minor = reader.octet();
        profile.host = reader.counted();
        profile.host.pop_back();  // the terminating zero
        profile.port = reader.number(2);
        profile.key = reader.counted();
        if (profile.port == 0 && profile.minor > 0) {
            Reader again = reader;
            profile.path = socket_path(reader);
            find_tls(again, profile);
        }
        return profile;
    }
    throw std::runtime_error("the reference has no IIOP profile");
}

std::string corbaloc(const Profile& profile, unsigned minor)
{
    static const char digits[] = "0123456789abcdef";
    const std::string version = "1." + std::to_string(std::min(minor, profile.minor));
    std::string text = profile.path.empty()
        ? (profile.tls ? "corbaloc:ssliop:" : "corbaloc:iiop:") + version + "@" + profile.host + ":" + std::to_string(profile.port) + "/"
        : "corbaloc:omniunix:" + version + "@" + profile.path + ":/";
    for (const char c : profile.key) {
        const auto octet = static_cast<unsigned char>(c);
        if (std::isalnum(octet) && octet < 0x80)
            text += c;
        else
            text += {'%', digits[octet >> 4], digits[octet & 15]};
    }
    return text;
}

}  // namespace ior
