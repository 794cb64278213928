// Package certtest makes certificate authorities and certificates for tests.
package certtest
