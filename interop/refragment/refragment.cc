// SPDX-License-Identifier: MIT OR Apache-2.0
// refragment --size N FROM TO: a relay that cuts GIOP 1.2 messages into fragments of N octets.
//
// No ORB here sends small fragments, so this does it for them. It reads FROM/*.ior, listens on a free port
// of 127.0.0.1 in place of the server named there, writes the references with that port to TO/*.ior, prints
// READY, and relays both directions until SIGTERM. Messages of GIOP 1.0 and 1.1 pass unchanged.
#include <arpa/inet.h>
#include <csignal>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

constexpr std::size_t HEADER = 12;
constexpr std::size_t REQUEST_ID = 4;
constexpr std::uint32_t LARGEST = 256U << 20;
constexpr char FRAGMENT = 7;
constexpr char MORE = 2;  // the flag for "more fragments follow"

std::uint32_t number(const std::string& bytes, std::size_t at, std::size_t size, bool little)
{
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < size; ++i)
        value |= std::uint32_t(static_cast<unsigned char>(bytes.at(at + i))) << 8 * (little ? i : size - 1 - i);
    return value;
}

void put(std::string& bytes, std::size_t at, std::size_t size, bool little, std::uint32_t value)
{
    for (std::size_t i = 0; i < size; ++i)
        bytes.at(at + i) = static_cast<char>(value >> 8 * (little ? i : size - 1 - i));
}

/// Where the port stands in the first IIOP profile of a reference, and what it is.
struct Place {
    std::string host;
    std::size_t port_at;
    bool little;
    std::uint16_t port;
};

Place find_port(const std::string& reference)
{
    const bool outer = reference.at(0) & 1;
    std::size_t at = 4;
    auto aligned = [](std::size_t offset, std::size_t size) { return (offset + size - 1) / size * size; };
    at = aligned(at + 4 + number(reference, at, 4, outer), 4);  // past the type
    std::uint32_t profiles = number(reference, at, 4, outer);
    for (at += 4; profiles > 0; --profiles) {
        at = aligned(at, 4);
        const std::uint32_t tag = number(reference, at, 4, outer), length = number(reference, at + 4, 4, outer);
        const std::size_t body = at + 8;
        if (tag == 0) {
            const bool little = reference.at(body) & 1;
            const std::uint32_t name = number(reference, body + 4, 4, little);
            const std::size_t port_at = body + aligned(8 + name, 2);
            return {reference.substr(body + 8, name - 1), port_at, little,
                    static_cast<std::uint16_t>(number(reference, port_at, 2, little))};
        }
        at = body + length;
    }
    throw std::runtime_error("a reference without an IIOP profile");
}

std::string from_hex(const std::string& text)
{
    std::string bytes;
    for (std::size_t i = 0; i + 1 < text.size(); i += 2)
        bytes += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
    return bytes;
}

std::string to_hex(const std::string& bytes)
{
    static const char digits[] = "0123456789abcdef";
    std::string text;
    for (const char c : bytes) {
        text += digits[static_cast<unsigned char>(c) >> 4];
        text += digits[c & 15];
    }
    return text;
}

bool read_all(int socket, char* to, std::size_t size)
{
    while (size > 0) {
        const ssize_t got = recv(socket, to, size, 0);
        if (got <= 0)
            return false;
        to += got;
        size -= static_cast<std::size_t>(got);
    }
    return true;
}

bool write_all(int socket, const std::string& bytes)
{
    for (std::size_t at = 0; at < bytes.size();) {
        const ssize_t sent = send(socket, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        at += static_cast<std::size_t>(sent);
    }
    return true;
}

bool can_be_cut(const std::string& header, const std::string& body)
{
    const char kind = header[7];
    const bool fragmentable = kind == 0 || kind == 1 || kind == 3 || kind == 4 || kind == FRAGMENT;
    return header[4] == 1 && header[5] == 2 && fragmentable && body.size() > REQUEST_ID;
}

/// The message in pieces of `size` octets after the request id. Each piece but the last is a multiple of 8
/// octets long with its header, so that what follows keeps its alignment.
std::string cut(std::string header, const std::string& body, std::size_t size)
{
    const bool little = header[6] & 1;
    const char more_at_the_end = header[6] & MORE;
    std::string out;
    for (std::size_t at = REQUEST_ID; at < body.size(); at += size) {
        const std::string piece = body.substr(at, size);
        const bool last = at + piece.size() == body.size();
        header[6] = static_cast<char>((header[6] & ~MORE) | (last ? more_at_the_end : MORE));
        put(header, 8, 4, little, static_cast<std::uint32_t>(REQUEST_ID + piece.size()));
        out += header + body.substr(0, REQUEST_ID) + piece;
        header[7] = FRAGMENT;
    }
    return out;
}

void relay(int from, int to, std::size_t size)
{
    for (;;) {
        std::string header(HEADER, '\0');
        if (!read_all(from, &header[0], HEADER))
            break;
        const std::uint32_t length = number(header, 8, 4, header[6] & 1);
        if (header.compare(0, 4, "GIOP") != 0 || length > LARGEST) {
            std::cerr << "refragment: not a GIOP message" << std::endl;
            break;
        }
        std::string body(length, '\0');
        if (!read_all(from, &body[0], length))
            break;
        if (!write_all(to, can_be_cut(header, body) ? cut(header, body, size) : header + body))
            break;
    }
    shutdown(from, SHUT_RDWR);
    shutdown(to, SHUT_RDWR);
}

sockaddr_in address(const std::string& host, std::uint16_t port)
{
    sockaddr_in result{};
    result.sin_family = AF_INET;
    result.sin_port = htons(port);
    if (inet_pton(AF_INET, host.c_str(), &result.sin_addr) != 1)
        throw std::runtime_error("not an IPv4 address: " + host);
    return result;
}

void serve(int client, const sockaddr_in& target, std::size_t size)
{
    const int server = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(server, reinterpret_cast<const sockaddr*>(&target), sizeof target) == 0) {
        const int on = 1;
        setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        std::thread back([=] { relay(server, client, size); });
        relay(client, server, size);
        back.join();
    }
    close(server);
    close(client);
}

/// A listening socket on a free port of this machine.
int listen_somewhere(std::uint16_t& port)
{
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in own = address("127.0.0.1", 0);
    socklen_t length = sizeof own;
    if (bind(listener, reinterpret_cast<sockaddr*>(&own), sizeof own) != 0 || listen(listener, 64) != 0
        || getsockname(listener, reinterpret_cast<sockaddr*>(&own), &length) != 0)
        throw std::runtime_error("cannot listen");
    port = ntohs(own.sin_port);
    return listener;
}

/// Rewrites every reference and gives the address of the server they all named.
sockaddr_in redirect(const std::filesystem::path& from, const std::filesystem::path& to, std::uint16_t port)
{
    sockaddr_in target{};
    for (const auto& entry : std::filesystem::directory_iterator(from)) {
        if (entry.path().extension() != ".ior")
            continue;
        std::string text;
        std::ifstream(entry.path()) >> text;
        std::string reference = from_hex(text.substr(4));
        const Place place = find_port(reference);
        target = address(place.host, place.port);
        put(reference, place.port_at, 2, place.little, port);
        std::ofstream(to / entry.path().filename()) << "IOR:" << to_hex(reference) << '\n';
    }
    if (target.sin_port == 0)
        throw std::runtime_error("no references in " + from.string());
    return target;
}

}  // namespace

int main(int argc, char** argv)
{
    const std::size_t size = argc == 5 && std::string(argv[1]) == "--size" ? std::strtoul(argv[2], nullptr, 10) : 0;
    if (size == 0 || size % 8 != 0) {
        std::cerr << "usage: refragment --size N FROM TO      (N: a multiple of 8)" << std::endl;
        return 2;
    }
    std::signal(SIGTERM, [](int) { std::_Exit(0); });
    try {
        std::uint16_t port = 0;
        const int listener = listen_somewhere(port);
        const sockaddr_in target = redirect(argv[3], argv[4], port);
        std::cout << "READY" << std::endl;
        for (;;) {
            const int client = accept(listener, nullptr, nullptr);
            if (client >= 0)
                std::thread(serve, client, target, size).detach();
        }
    } catch (const std::exception& e) {
        std::cerr << "refragment: " << e.what() << std::endl;
        return 1;
    }
}
