package kubernetes

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A Pod is the pod of this process.
type Pod struct {
	// Name of the pod: that of its StatefulSet, and its ordinal number.
	Name string
	// API is host:port of the Kubernetes API.
	API string
	// Account is the directory with the token, the authority and the name space of the pod.
	Account string
}

// ThisPod returns the pod of this process, by its environment and its mounted service account.
func ThisPod(getenv func(string) string) (Pod, error) {
	host, port := getenv("KUBERNETES_SERVICE_HOST"), getenv("KUBERNETES_SERVICE_PORT")
	if host == "" || port == "" {
		return Pod{}, errors.New("this process does not run in Kubernetes: KUBERNETES_SERVICE_HOST is not set")
	}
	name := getenv("POD_NAME")
	if name == "" {
		var err error
		if name, err = os.Hostname(); err != nil {
			return Pod{}, fmt.Errorf("name of the pod: %w", err)
		}
	}
	return Pod{Name: name, API: net.JoinHostPort(host, port), Account: "/var/run/secrets/kubernetes.io/serviceaccount"}, nil
}

// maxAnswer bounds what is read of an answer of the API, in bytes.
const maxAnswer = 4 << 20

// Removed reports whether the StatefulSet has no place for the pod any more, because it was scaled down.
// A pod that only restarts keeps its place.
func (p Pod) Removed(ctx context.Context, set string) (bool, error) {
	ordinal, err := p.ordinal(set)
	if err != nil {
		return false, err
	}
	read := func(name string) (string, error) {
		text, err := os.ReadFile(filepath.Join(p.Account, name))
		return strings.TrimSpace(string(text)), err
	}
	token, tokenErr := read("token")
	namespace, namespaceErr := read("namespace")
	authority, authorityErr := read("ca.crt")
	if err := errors.Join(tokenErr, namespaceErr, authorityErr); err != nil {
		return false, fmt.Errorf("service account of the pod: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(authority)) {
		return false, errors.New("service account of the pod: ca.crt holds no certificate")
	}
	at := url.URL{Scheme: "https", Host: p.API, Path: "/apis/apps/v1/namespaces/" + namespace + "/statefulsets/" + set}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return false, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true}
	reply, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return false, fmt.Errorf("ask for StatefulSet %s: %w", set, err)
	}
	defer func() { _ = reply.Body.Close() }()
	if reply.StatusCode != http.StatusOK {
		return false, fmt.Errorf("ask for StatefulSet %s: the API answers %s", set, reply.Status)
	}
	var answer struct {
		Spec struct {
			Replicas *int `json:"replicas"`
			Ordinals struct {
				Start int `json:"start"`
			} `json:"ordinals"`
		} `json:"spec"`
	}
	if err := json.NewDecoder(io.LimitReader(reply.Body, maxAnswer)).Decode(&answer); err != nil {
		return false, fmt.Errorf("StatefulSet %s: %w", set, err)
	}
	if answer.Spec.Replicas == nil {
		return false, fmt.Errorf("StatefulSet %s: the answer has no number of replicas", set)
	}
	first := answer.Spec.Ordinals.Start
	return ordinal < first || ordinal >= first+*answer.Spec.Replicas, nil
}

// ordinal is the number of the pod in its StatefulSet.
func (p Pod) ordinal(set string) (int, error) {
	text, ok := strings.CutPrefix(p.Name, set+"-")
	n, err := strconv.ParseUint(text, 10, 31)
	if !ok || err != nil {
		return 0, fmt.Errorf("pod %q is not of StatefulSet %q", p.Name, set)
	}
	return int(n), nil
}
