package server

import (
	"bytes"
	"net"
	"net/netip"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"
)

// transport says how requests reach the server.
type transport struct {
	tls     bool
	trusted []netip.Prefix
}

// peer is the client that sent a request.
type peer struct {
	addr   netip.Addr // address of the client, as far as it can be trusted
	secure bool       // HTTPS on the whole way
	ok     bool       // its requests may be answered
}

// peer returns the client of c. Forwarded headers are believed only from a trusted proxy. Plain
// HTTP is allowed on the loopback interface, unless a proxy there is trusted and does not say that
// its client used HTTPS.
func (t *transport) peer(c *fiber.Ctx) peer {
	direct := remote(c.Context().RemoteAddr())
	if !t.isTrusted(direct) {
		return peer{addr: direct, secure: t.tls, ok: t.tls || direct.IsLoopback()}
	}
	// If there are two lines, one of them may be from the client, at any position.
	proto := c.Request().Header.PeekAll(fiber.HeaderXForwardedProto)
	secure := len(proto) == 1 && bytes.EqualFold(lastItem(proto[0]), []byte("https"))
	return peer{addr: t.client(c, direct), secure: secure, ok: secure}
}

func remote(a net.Addr) netip.Addr {
	if tcp, ok := a.(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}

func (t *transport) isTrusted(a netip.Addr) bool {
	for _, p := range t.trusted {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// client returns the last address in X-Forwarded-For that is not a trusted proxy. The caller may
// have made up the addresses before it.
func (t *transport) client(c *fiber.Ctx, direct netip.Addr) netip.Addr {
	addr := direct
	list := joinLines(c.Request().Header.PeekAll(fiber.HeaderXForwardedFor))
	for len(list) > 0 {
		item := lastItem(list)
		list = list[:max(0, bytes.LastIndexByte(list, ','))]
		next, ok := forwarded(item)
		if !ok {
			return addr
		}
		if addr = next; !t.isTrusted(addr) {
			return addr
		}
	}
	return addr
}

// joinLines returns a list header, which may have several lines, as one line.
func joinLines(lines [][]byte) []byte {
	if len(lines) == 1 {
		return lines[0]
	}
	return bytes.Join(lines, []byte(","))
}

func lastItem(list []byte) []byte {
	return bytes.TrimSpace(list[bytes.LastIndexByte(list, ',')+1:])
}

// forwarded parses an address, with or without a port.
func forwarded(item []byte) (netip.Addr, bool) {
	text := utils.UnsafeString(item)
	if a, err := netip.ParseAddr(text); err == nil {
		return a.Unmap().WithZone(""), true
	}
	if ap, err := netip.ParseAddrPort(text); err == nil {
		return ap.Addr().Unmap().WithZone(""), true
	}
	return netip.Addr{}, false
}

// appendMasked appends an address without its last part, for the log; nothing for the zero address.
func appendMasked(b []byte, a netip.Addr) []byte {
	bits := 24
	if a.Is6() {
		bits = 48
	}
	p, err := a.Prefix(bits)
	if err != nil || !a.IsValid() {
		return b
	}
	return p.AppendTo(b)
}
