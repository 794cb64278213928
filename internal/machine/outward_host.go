package machine

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
)

// OutwardHost is an address of this machine by which other hosts are likely to reach
// it: a private one before a public one, and IPv4 before IPv6.
func OutwardHost() (string, error) {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return "", fmt.Errorf("look for an address to advertise: %w; set advertise", err)
	}
	best, bestRank := netip.Addr{}, 0
	for _, a := range addrs {
		p, err := netip.ParsePrefix(a.String())
		if err != nil {
			continue
		}
		ip := p.Addr().Unmap()
		if ip.IsLoopback() || ip.IsLinkLocalUnicast() || !ip.IsGlobalUnicast() {
			continue
		}
		rank := 1
		if ip.Is4() {
			rank += 2
		}
		if ip.IsPrivate() {
			rank++
		}
		if rank > bestRank {
			best, bestRank = ip, rank
		}
	}
	if bestRank == 0 {
		return "", errors.New("this machine has no address that other hosts could reach: set advertise, or addresses on 127.0.0.1")
	}
	return best.String(), nil
}
