// Package foreign logs connections whose clients speak another protocol than Redis'.
package foreign
