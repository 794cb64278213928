// Package maintenance tells clients before their node stops, and while ranges change hands, so that
// they go to another node, or wait longer, instead of reporting an error.
//
// [Notices] are the clients of one node that have sent CLIENT MAINT_NOTIFICATIONS ON. The messages are
// those that go-redis, node-redis, redis-py and Jedis understand:
//
//	MOVING number seconds address    connect to address: this connection ends in so many seconds
//	MIGRATING number seconds [node…] ranges of these nodes are about to change hands
//	MIGRATED number [node…]          they have
//	FAILING_OVER number seconds [node…] these nodes seem to be gone
//	FAILED_OVER number [node…]       others have taken over, or they are back
//
// The address is null if the client asked for none. The client then connects again to its configured
// address, which may be that of a load balancer.
package maintenance
