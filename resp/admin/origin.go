package admin

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
)

// GET requests change nothing, and what POST does demands a user. But a web page of another site must not read
// status or metrics by a name of its own that leads to this node (DNS rebinding), nor make the node record profiles, nor
// use the user that the browser remembers. So the host name of a request must be one that no other site can have.

// AnyHost in [Config.Hosts] has every host name accepted.
const AnyHost = "*"

// reservedSuffixes are ends of names that cannot be registered in the public DNS: RFC 2606, 6761, 6762 and 8375, and what ICANN has
// set aside for private networks. "svc" is no top-level domain; Kubernetes has services by it.
var reservedSuffixes = []string{".localhost", ".local", ".internal", ".home.arpa", ".localdomain", ".svc", ".test", ".invalid"}

// hosts are the names by which clients may call this node, in lower case, beside addresses and the names that no site can have.
type hosts map[string]bool

func newHosts(names []string) hosts {
	own := make(hosts)
	for _, name := range names {
		own[plainHost(name)] = true
	}
	if name, err := os.Hostname(); err == nil && name != "" {
		own[plainHost(name)] = true
	}
	return own
}

// plainHost returns a host name in lower case without the final dot.
func plainHost(name string) string { return strings.TrimSuffix(strings.ToLower(name), ".") }

// crossSite returns why a request that a page of another site may have made a browser send is refused; empty for all
// others.
func (h hosts) crossSite(r *http.Request) string {
	if isHealthCheck(r) {
		return "" // probes may use any name
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return "pages of other sites may not read this"
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		if u, err := url.Parse(origin); err != nil || u.Host != r.Host {
			return "pages of other sites may not read this"
		}
	}
	if !h.accept(r.Host) {
		return "this host name is unknown here: use an IP address or the name of the machine, or add the name to http-hosts"
	}
	return ""
}

func isHealthCheck(r *http.Request) bool {
	return r.URL.Path == "/healthz" || r.URL.Path == "/readyz" || r.URL.Path == "/livez"
}

// accept reports whether clients may use a host, with or without a port. A page of another site cannot have an IP address, a
// name without dots or a reserved one for its own.
func (h hosts) accept(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if host = plainHost(strings.Trim(host, "[]")); host == "" {
		return true // HTTP/1.0, which no browser sends
	}
	if h[AnyHost] || h[host] || !strings.Contains(host, ".") || isAddress(host) {
		return true
	}
	return slices.ContainsFunc(reservedSuffixes, func(end string) bool { return strings.HasSuffix(host, end) })
}

// isAddress reports whether a host is an IP address, which may have a zone.
func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}
