// Package login slows down guessing of passwords. It knows addresses, and neither users nor connections.
package login
