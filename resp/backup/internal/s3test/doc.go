// Package s3test is an S3-compatible service in memory for tests, which refuses wrong credentials and can break
// connections, or be gone.
package s3test
