// Package swap carries out SWAPDB: it has the nodes of a cluster agree on a new order of the databases
// (package database), in which two of them show each other's data.
//
// As with the policy of a database, the table notes the change, all nodes hold requests for the two databases,
// and once none runs any more the table gets the new order. So no request works on the data of one order while
// another works on that of the next.
package swap
