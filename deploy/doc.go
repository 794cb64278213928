// Package deploy has no code. Its tests check the files beside it, which install and watch nodes:
// units of systemd, a Helm chart, manifests for Kubernetes, dashboards and alerts.
package deploy
