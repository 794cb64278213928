package admin

import (
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
)

// Nothing that is served changes state: all requests are GET. But a web page that a
// browser on this machine shows must not read metrics by a name of its own that leads to
// 127.0.0.1 (DNS rebinding), nor make the node record profiles.

// crossSite returns why a request that a page of another site has made a browser send is
// refused; empty for all others.
func crossSite(r *http.Request) string {
	switch r.URL.Path {
	case "/healthz", "/readyz", "/livez":
		return "" // for probes, which may use any name
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return "pages of other sites may not read this"
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		if u, err := url.Parse(origin); err != nil || u.Host != r.Host {
			return "pages of other sites may not read this"
		}
	}
	if isLoopback(r.RemoteAddr) && !isOwnName(r.Host) {
		return "use localhost, the name of this machine or an IP address in place of this host name"
	}
	return ""
}

// isOwnName reports whether a client on this machine may use a name for it. A page of
// another site cannot have an IP address or the name of the machine for its own.
func isOwnName(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	if strings.EqualFold(host, "localhost") || net.ParseIP(host) != nil {
		return true
	}
	own, err := os.Hostname()
	return err == nil && own != "" && strings.EqualFold(host, own)
}
