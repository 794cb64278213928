// Package certs loads the certificates that clients of a node are met with, and those that nodes show each other, loads
// them once more when their files have changed, and says which users the certificate of a client stands for.
package certs
