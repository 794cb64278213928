// Package tap hands the changes of ranges over, in the order of the commits, and holds replies until
// the changes that they tell of are acknowledged.
//
// Read [Tap] first, then [Registry], whose set of taps changes at one moment for all commits, and
// [Seen]: what a unit must see acknowledged before its reply leaves. The caller is the commit of a
// unit; it writes the operations into [Parts], one for each tap.
package tap
