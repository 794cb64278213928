// Package bloom has the commands on Bloom filters, BF.RESERVE to BF.LOADCHUNK, with the syntax and the replies of
// RedisBloom. The filters are those of package collection; what they are like, package store/bloom knows.
package bloom
