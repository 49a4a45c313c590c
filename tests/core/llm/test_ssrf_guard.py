"""Which URLs and addresses a connection may lead to."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from scoring.core.llm.ssrf_guard import (
    RefusedError,
    Target,
    check_url,
    read_allowed_host,
    resolve_target,
)

PUBLIC = {
    "https://api.openai.com/v1": Target("https", "api.openai.com", 443),
    "https://API.OpenAI.com/v1/": Target("https", "api.openai.com", 443),
    "HTTPS://api.openai.com": Target("https", "api.openai.com", 443),
    "https://api.example.org:8443/v1": Target("https", "api.example.org", 8443),
    "https://xn--bcher-kva.example/v1": Target("https", "xn--bcher-kva.example", 443),
    "https://8.8.8.8/v1": Target("https", "8.8.8.8", 443),
    "https://[2606:4700::1111]/v1": Target("https", "2606:4700::1111", 443),
    "https://my_models.example.org/v1": Target("https", "my_models.example.org", 443),
    "https://localhost.example.org/v1": Target("https", "localhost.example.org", 443),
}

# Each line is one way in that must stay shut; what the refusal says stands behind it.
REFUSED = """
https://localhost/v1                           name of the local network
https://LOCALHOST/v1                           name of the local network
https://localhost./v1                          dot at its end
https://api.openai.com./v1                     dot at its end
https://model.localhost/v1                     name of the local network
https://printer.local/v1                       name of the local network
https://metadata.google.internal/v1            name of the local network
https://metadata/v1                            name of the local network
https://nas.home.arpa/v1                       name of the local network
https://1.0.0.127.in-addr.arpa/v1              name of the local network
https://127.0.0.1/v1                           address of the local network
https://127.8.9.10/v1                          address of the local network
https://127.1/v1                               four plain numbers
https://127.0.1/v1                             four plain numbers
https://2130706433/v1                          four plain numbers
https://0x7f000001/v1                          four plain numbers
https://0x7f.0.0.1/v1                          four plain numbers
https://0x7F.0x0.0x0.0x1/v1                    four plain numbers
https://127.0.0.0x1/v1                         four plain numbers
https://0177.0.0.1/v1                          four plain numbers
https://017700000001/v1                        four plain numbers
https://127.0.0.01/v1                          four plain numbers
https://1.2.3.4.5/v1                           four plain numbers
https://256.1.1.1/v1                           four plain numbers
https://example.0/v1                           four plain numbers
https://127.0.0.1./v1                          dot at its end
https://0.0.0.0/v1                             address of the local network
https://0/v1                                   four plain numbers
https://10.0.0.1/v1                            address of the local network
https://172.16.0.1/v1                          address of the local network
https://172.31.255.255/v1                      address of the local network
https://192.168.1.1/v1                         address of the local network
https://100.64.0.1/v1                          address of the local network
https://100.100.100.200/latest                 address of the local network
https://169.254.169.254/latest                 address of the local network
https://168.63.129.16/v1                       address of the local network
https://192.0.0.192/v1                         address of the local network
https://192.0.2.1/v1                           address of the local network
https://198.18.0.1/v1                          address of the local network
https://224.0.0.1/v1                           address of the local network
https://239.255.255.250/v1                     address of the local network
https://240.0.0.1/v1                           address of the local network
https://255.255.255.255/v1                     address of the local network
https://[::1]/v1                               address of the local network
https://[::]/v1                                address of the local network
https://[0:0:0:0:0:0:0:1]/v1                   address of the local network
https://[fe80::1]/v1                           address of the local network
https://[fe80::1%25eth0]/v1                    without a zone
https://[fc00::1]/v1                           address of the local network
https://[fd00:ec2::254]/latest                 address of the local network
https://[fec0::1]/v1                           address of the local network
https://[ff02::1]/v1                           address of the local network
https://[2001:db8::1]/v1                       address of the local network
https://[2001::1]/v1                           address of the local network
https://[::127.0.0.1]/v1                       address of the local network
https://[::ffff:127.0.0.1]/v1                  four plain numbers
https://[::ffff:7f00:1]/v1                     four plain numbers
https://[::ffff:8.8.8.8]/v1                    four plain numbers
https://[64:ff9b::7f00:1]/v1                   four plain numbers
https://[2002:7f00:1::]/v1                     four plain numbers
https://[127.0.0.1]/v1                         This is no URL
https://①②⑦.⓪.⓪.①/v1                            plain ASCII
https://ⓛocalhost/v1                           plain ASCII
https://bücher.example/v1                      plain ASCII
https://127。0。0。1/v1                          plain ASCII
https://%6c%6f%63alhost/v1                     no host name
https://127.0.0.1%2eexample.org/v1             no host name
https://user@api.openai.com/v1                 user name or password
https://user:secret@api.openai.com/v1          user name or password
https://@api.openai.com/v1                     user name or password
https://api.openai.com@127.0.0.1/v1            user name or password
https://api.openai.com\\@127.0.0.1/v1          backslash
https://127.0.0.1\\.example.org/v1             backslash
https://api.openai.com/v1?key=1                leave out ?
https://api.openai.com/v1#part                 leave out ?
https://127.0.0.1#@api.openai.com/v1           user name or password|leave out ?
https:///v1                                    names no host
https:/api.openai.com/v1                       begin with https
https:api.openai.com                           begin with https
//api.openai.com/v1                            begin with https
api.openai.com/v1                              begin with https
ftp://api.openai.com/v1                        begin with https
file:///etc/passwd                             begin with https
gopher://api.openai.com/v1                     begin with https
unix:///run/docker.sock                        begin with https
javascript:alert(1)                            begin with https
https://api.openai.com:0/v1                    port
https://api.openai.com:65536/v1                port
https://api.openai.com:/v1                     port
https://api.openai.com:8o/v1                   port
https://-api.openai.com/v1                     no host name
https://api..openai.com/v1                     no host name
https://.openai.com/v1                         no host name
https://[::1/v1                                This is no URL
https://api.openai.com,127.0.0.1/v1            four plain numbers
http://api.openai.com/v1                       Use https
http://8.8.8.8/v1                              Use https
"""
LINES = [line.rsplit("  ", 1) for line in REFUSED.strip().replace("\\\\", "\\").splitlines()]
TABLE = [(url.strip(), said.strip()) for url, said in LINES]


@pytest.mark.parametrize(("url", "target"), PUBLIC.items())
def test_a_public_endpoint_is_let_through(url: str, target: Target) -> None:
    assert check_url(url) == target


@pytest.mark.parametrize(("url", "said"), TABLE, ids=[url for url, _ in TABLE])
def test_an_odd_or_inner_url_is_refused(url: str, said: str) -> None:
    with pytest.raises(RefusedError) as refused:
        check_url(url)
    assert any(part in refused.value.text for part in said.split("|"))


@pytest.mark.parametrize(
    "url", ["https://a b.example/v1", "https://a\n.example", "https://a\x00b/"]
)
def test_white_space_and_control_characters_are_refused(url: str) -> None:
    with pytest.raises(RefusedError, match="control character"):
        check_url(url)


def test_an_endless_url_is_refused() -> None:
    with pytest.raises(RefusedError, match="longer than"):
        check_url("https://api.example.org/" + "v" * 500)


@pytest.mark.parametrize(
    ("url", "entry"),
    [
        ("http://localhost:11434/v1", "localhost"),
        ("http://localhost:11434/v1", "localhost:11434"),
        ("http://127.0.0.1:8080/v1", "127.0.0.1"),
        ("http://127.0.0.1:8080/v1", "127.0.0.0/8"),
        ("http://[::1]:8080/v1", "::1"),
        ("http://[::1]:8080/v1", "[::1]:8080"),
        ("http://[::1]:8080/v1", "[::1]"),
        ("https://10.1.2.3/v1", "10.1.0.0/16"),
        ("http://models.example.org/v1", "models.example.org"),
        ("http://ollama:11434/v1", "Ollama:11434"),
        ("https://169.254.169.254/v1", "169.254.169.254"),
    ],
)
def test_a_listed_host_is_let_through(url: str, entry: str) -> None:
    assert check_url(url, {entry}).host in url


@pytest.mark.parametrize(
    ("url", "entry"),
    [
        ("http://localhost:11434/v1", "localhost:8080"),
        ("http://localhost:11434/v1", "127.0.0.1"),
        ("https://10.2.0.1/v1", "10.1.0.0/16"),
        ("http://127.0.0.1:8080/v1", "127.0.0.1:80"),
        ("http://evil.localhost/v1", "localhost"),
        ("https://[::ffff:127.0.0.1]/v1", "127.0.0.1"),
        ("https://0x7f.1/v1", "127.0.0.1"),
        ("https://user@localhost/v1", "localhost"),
    ],
)
def test_another_entry_opens_nothing(url: str, entry: str) -> None:
    with pytest.raises(RefusedError):
        check_url(url, {entry})


@pytest.mark.parametrize(
    ("url", "entry"),
    [
        ("http://localhost:11434/v1", "localhost:11434"),
        ("https://10.0.0.1/v1", "10.0.0.1:443"),
        ("http://[::1]:8080/v1", "[::1]:8080"),
        ("http://models.example.org/v1", "models.example.org:80"),
        ("https://user@localhost/v1", ""),
    ],
)
def test_a_refusal_names_the_entry_that_would_let_it_through(url: str, entry: str) -> None:
    with pytest.raises(RefusedError) as refused:
        check_url(url)
    assert refused.value.allow == entry
    if entry:
        assert check_url(url, {entry})


@pytest.mark.parametrize("entry", ["", "http://localhost", "10.0.0.0/33", "a b", "host:port", "*"])
def test_an_entry_that_names_nothing_is_an_error(entry: str) -> None:
    with pytest.raises(ValueError, match=r"does not appear|no host name"):
        read_allowed_host(entry)


def test_an_entry_that_names_nothing_opens_nothing_and_spoils_nothing() -> None:
    assert check_url("http://localhost:11434/v1", {"http://x", "localhost"})
    with pytest.raises(RefusedError):
        check_url("http://localhost:11434/v1", {"http://localhost:11434/v1"})


def resolved(host: str, addresses: Sequence[str], allowed: Sequence[str] = ()) -> list[str]:
    async def lookup(name: str, port: int) -> Sequence[str]:
        assert (name, port) == (host, 443)
        return addresses

    return asyncio.run(resolve_target(host, 443, allowed, lookup))


INNER = ["127.0.0.1", "10.0.0.1", "169.254.169.254", "100.64.1.1", "::1", "fe80::1%eth0", "fd00::1"]
INNER += ["::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::1", "0.0.0.0", "224.0.0.251"]


@pytest.mark.parametrize("address", INNER)
@pytest.mark.parametrize("others", [[], ["8.8.8.8"]])
def test_a_name_that_leads_inside_is_refused(address: str, others: list[str]) -> None:
    with pytest.raises(RefusedError, match=r"api\.example\.org leads to"):
        resolved("api.example.org", [*others, address])


def test_the_addresses_of_a_public_name_come_back_in_order() -> None:
    addresses = ["2606:4700::1111", "8.8.8.8", "64:ff9b::808:808"]
    assert resolved("api.example.org", addresses) == addresses


@pytest.mark.parametrize("entry", ["models.example.org", "models.example.org:443", "10.0.0.0/8"])
def test_a_listed_name_or_network_may_lead_inside(entry: str) -> None:
    assert resolved("models.example.org", ["10.0.0.7"], [entry]) == ["10.0.0.7"]


def test_a_name_without_addresses_is_not_found() -> None:
    with pytest.raises(OSError, match="has no address"):
        resolved("api.example.org", [])


def test_an_address_needs_no_looking_up() -> None:
    assert asyncio.run(resolve_target("8.8.8.8", 443)) == ["8.8.8.8"]
    with pytest.raises(RefusedError):
        asyncio.run(resolve_target("10.0.0.1", 443))
