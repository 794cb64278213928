package admin

import (
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
)

// GET requests change nothing, and what POST does demands a user. But a web page that a browser on this machine
// shows must not read metrics by a name of its own that leads to 127.0.0.1 (DNS rebinding), nor make the node
// record profiles, nor use the user that the browser remembers.

// crossSite returns why a request that a page of another site has made a browser send is
// refused; empty for all others.
func crossSite(r *http.Request) string {
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
	if isLoopback(r.RemoteAddr) && !isOwnName(r.Host) {
		return "use localhost, the name of this machine or an IP address in place of this host name"
	}
	return ""
}

func isHealthCheck(r *http.Request) bool {
	return r.URL.Path == "/healthz" || r.URL.Path == "/readyz" || r.URL.Path == "/livez"
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
