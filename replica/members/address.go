package members

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// splitHostPort takes host:port or a host, which may be an IPv6 address with or
// without brackets.
func splitHostPort(addr string, defaultPort uint16) (string, uint16, error) {
	host, port := addr, ""
	bare := addr
	if inner, ok := strings.CutPrefix(addr, "["); ok {
		bare, _ = strings.CutSuffix(inner, "]")
		if len(bare) == len(inner) {
			bare = "" // a port follows, or the bracket never ends
		}
	}
	if ip, err := netip.ParseAddr(bare); err == nil {
		host = ip.String()
	} else if strings.Contains(addr, ":") {
		var err error
		if host, port, err = net.SplitHostPort(addr); err != nil {
			return "", 0, err
		}
		if port == "" {
			return "", 0, fmt.Errorf("%.300q ends before the port", addr)
		}
	}
	if host == "" || strings.ContainsAny(host, "[]/ \t\r\n") {
		return "", 0, fmt.Errorf("%.300q has no host", addr)
	}
	if port == "" {
		return host, defaultPort, nil
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return "", 0, fmt.Errorf("%.300q: port is not a number from 1 to 65535", addr)
	}
	return host, uint16(n), nil
}

// resolve returns all addresses of a host, at least one.
func resolve(ctx context.Context, r Resolver, host string) ([]netip.Addr, error) {
	if ip, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{ip.Unmap()}, nil
	}
	texts, err := r.LookupHost(ctx, host)
	if err != nil {
		return nil, err
	}
	var ips []netip.Addr
	for _, text := range texts {
		ip, err := netip.ParseAddr(text)
		if err != nil {
			return nil, fmt.Errorf("look up %.300s: %w", host, err)
		}
		ips = append(ips, ip.Unmap())
	}
	if len(ips) == 0 {
		return nil, fmt.Errorf("look up %.300s: %w", host, errNoAddress)
	}
	return ips, nil
}

var errNoAddress = errors.New("no address")

// ownAddresses are those by which this node reaches itself.
func ownAddresses(bound, advertised netip.AddrPort) map[netip.AddrPort]bool {
	own := map[netip.AddrPort]bool{bound: true, advertised: true}
	if !bound.Addr().IsUnspecified() {
		return own
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return own // a node that talks to itself does no harm
	}
	for _, a := range addrs {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			own[netip.AddrPortFrom(p.Addr().Unmap(), bound.Port())] = true
		}
	}
	return own
}

func unmap(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }
