package hostport

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// MaxPort is the highest port.
const MaxPort = 1<<16 - 1

// Split takes a host:port apart; its errors say what would be right.
func Split(addr string) (host string, port int, err error) {
	const form = "use host:port, such as 127.0.0.1:6379, [::1]:6379 or :6379 for every interface"
	if addr == "" {
		return "", 0, errors.New("empty; " + form)
	}
	if strings.Contains(addr, "://") {
		return "", 0, errors.New("a URL; " + form)
	}
	if strings.ContainsAny(addr, ", \t\r\n") {
		return "", 0, errors.New("more than one address, or a blank in it; " + form)
	}
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		why := "not an address"
		var addrErr *net.AddrError
		if errors.As(err, &addrErr) {
			why = addrErr.Err
		}
		return "", 0, errors.New(why + "; " + form)
	}
	port, err = strconv.Atoi(text)
	if err != nil || port < 0 || port > MaxPort || text[0] == '+' || text[0] == '-' {
		return "", 0, fmt.Errorf("port %q is not a number from 0 to %d", text, MaxPort)
	}
	if !Plausible(host) {
		return "", 0, fmt.Errorf("%q is neither an IP address nor a host name", host)
	}
	return host, port, nil
}

// Plausible reports whether host may be an address or a name; whether it
// exists is only known when it is listened on.
func Plausible(host string) bool {
	if host == "" || ParseIP(host) != nil {
		return true
	}
	onlyDigits := true // 127.0.0.256 is a mistyped address, not a name
	for _, r := range host {
		switch {
		case r >= '0' && r <= '9', r == '.':
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r == '-', r == '_', r >= 0x80:
			onlyDigits = false
		default:
			return false
		}
	}
	return !onlyDigits
}

// ParseIP also takes an IPv6 address with a zone, as link-local ones have.
func ParseIP(host string) net.IP {
	if i := strings.IndexByte(host, '%'); i > 0 {
		host = host[:i]
	}
	return net.ParseIP(host)
}

// IsLoopback reports whether host is the loopback of its machine. A name counts only if it is localhost.
func IsLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// Overlap reports whether one port cannot be had on both hosts.
func Overlap(a, b string) bool {
	return strings.EqualFold(a, b) || IsWildcard(a) || IsWildcard(b)
}

// IsWildcard reports whether host is every interface.
func IsWildcard(host string) bool {
	ip := ParseIP(host)
	return host == "" || ip != nil && ip.IsUnspecified()
}
