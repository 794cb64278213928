// Package pagetest has what all pages of reports must pass: that they are whole, need
// nothing from elsewhere, and fit a phone and a desk.
//
// Read Alone and Fits. It is for tests.
package pagetest
